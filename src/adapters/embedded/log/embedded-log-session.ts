import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Assignment, LogBatch, LogSession, PullLimits } from '../../../log/log-source.ts';
import { OffsetOutOfRangeError } from '../../../log/offset-out-of-range-error.ts';
import { type Position, partitionKey, type TopicPartition } from '../../../log/position.ts';
import type { ChangeWatch } from '../database/change-watch.ts';
import { streamKey, topicsKey } from './log-keys.ts';
import type { LogTables } from './log-tables.ts';

/** How long a look at the set of partitions waits before it looks again, told or not. */
const lookAgainMs = 60_000;

type SessionParts = {
  readonly tables: LogTables;
  readonly changes: ChangeWatch;
  readonly topics: readonly string[];
};

/** One subscription's reading of the embedded log. */
export class EmbeddedLogSession implements LogSession {
  readonly #tables: LogTables;
  readonly #changes: ChangeWatch;
  readonly #topics: readonly string[];
  readonly #stopping = new AbortController();

  constructor({ tables, changes, topics }: SessionParts) {
    this.#tables = tables;
    this.#changes = changes;
    this.#topics = [...new Set(topics)];
  }

  async *assignments(signal: AbortSignal): AsyncGenerator<Assignment, void, undefined> {
    const ended = AbortSignal.any([signal, this.#stopping.signal]);
    const owned = new Set<string>();
    let isFirst = true;
    while (!ended.aborted) {
      const assigned = this.#partitions().filter((partition) => !owned.has(partitionKey(partition)));
      for (const partition of assigned) owned.add(partitionKey(partition));
      if (isFirst || assigned.length > 0) {
        isFirst = false;
        // The caller may take its time: look once more before waiting, or what came meanwhile would be missed.
        yield { assigned, lost: [] };
      } else {
        await this.#changes.wait(topicsKey, lookAgainMs, ended);
      }
    }
  }

  async pull(from: Position, limits: PullLimits, signal: AbortSignal): Promise<LogBatch> {
    // A reader that is far behind never waits for the log: it must not keep others from their turn.
    await nextTurn();
    const ended = limits.waitMs > 0 ? AbortSignal.any([signal, this.#stopping.signal]) : signal;
    const deadline = performance.now() + limits.waitMs;
    for (;;) {
      const batch = this.#page(from, limits);
      const waitMs = deadline - performance.now();
      if (batch.records.length > 0 || waitMs <= 0) return batch;
      await this.#changes.wait(streamKey(from), waitMs, ended);
      if (ended.aborted) return batch;
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
  }

  #partitions(): readonly TopicPartition[] {
    return this.#topics.flatMap((topic) => this.#tables.boundsOf(topic).map(({ partition }) => ({ topic, partition })));
  }

  #page(from: Position, limits: PullLimits): LogBatch {
    const { topic, partition, offset } = from;
    const stream = this.#tables.streamOf(from);
    const end = stream?.next ?? 0;
    if (offset < 0 || offset > end) throw outOfRange(from, end);
    const records = stream === undefined || offset === end ? [] : this.#tables.page(stream, offset, limits);
    return { topic, partition, records, nextOffset: (records.at(-1)?.offset ?? offset - 1) + 1, low: 0, end };
  }
}

function outOfRange({ topic, partition, offset }: Position, end: number): OffsetOutOfRangeError {
  return new OffsetOutOfRangeError(
    `Offset ${offset} of partition ${partition} of ${topic} is not in the log, which goes from 0 to ${end}.`,
    {
      details: { topic, partition, offset, low: 0, end },
      hint: 'The file is another one than the checkpoint was saved for, or an older copy of it.',
    },
  );
}
