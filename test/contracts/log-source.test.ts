import type { EmbeddedFile } from '../../src/adapters/embedded/index.ts';
import { MemoryLog } from '../../src/testing/world/memory-log.ts';
import { VirtualClock } from '../../src/testing/world/virtual-clock.ts';
import { embeddedInMemory, embeddedOnDisk } from './adapters.ts';
import { holdTo, mustNotHold, type Opened, opened } from './contract.ts';
import { type LogSubject, logSourceContract } from './log-source.contract.ts';

function subjectOf(file: EmbeddedFile): LogSubject {
  return {
    log: file.log,
    append: async (topic, partition, records) => {
      await file.appendRecords(
        records.map(({ timestamp = 0, headers = [], key, value }) => {
          return { topic, partition, timestamp, headers, key, value };
        }),
      );
    },
    passing: (promise) => promise,
  };
}

async function embedded(open: () => Promise<Opened<EmbeddedFile>>): Promise<Opened<LogSubject>> {
  const file = await open();
  return { subject: subjectOf(file.subject), [Symbol.asyncDispose]: () => file[Symbol.asyncDispose]() };
}

async function simulated(): Promise<Opened<LogSubject>> {
  const clock = new VirtualClock();
  const log = new MemoryLog({ clock });
  return opened({
    log,
    append: async (topic, partition, records) => {
      log.createTopic(topic, 2);
      for (const record of records) log.append({ topic, partition }, record);
    },
    passing: (promise) => clock.runUntil(promise),
  });
}

/** Has no topics, and sessions that never get anything. */
function idleLog(): LogSubject {
  return {
    log: {
      describe: async (topic) => ({ topic, identity: '', partitions: [] }),
      offsetsAt: async () => new Map(),
      open: () => ({
        async *assignments() {},
        pull: async ({ topic, partition, offset }) => {
          return { topic, partition, records: [], nextOffset: offset, low: 0, end: offset };
        },
        stop: async () => undefined,
      }),
      readAt: async () => undefined,
      mirror: () => undefined,
    },
    append: async () => undefined,
    passing: (promise) => promise,
  };
}

holdTo('the embedded file', logSourceContract, () => embedded(embeddedOnDisk));
holdTo('the embedded file in memory', logSourceContract, () => embedded(embeddedInMemory));
holdTo('the simulated log', logSourceContract, simulated);
mustNotHold('a log that does nothing', logSourceContract, idleLog);
