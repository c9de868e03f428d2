import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Assignment, LogSession, LogSource } from '../../../src/log/log-source.ts';
import { KafkaSubject } from './kafka-subject.ts';
import { keysOf, never, numbered, pullAtOnce, readOn } from './pulling.ts';

const kafka = inject('kafka');

describe.skipIf(kafka === undefined)('topics of Kafka that change', () => {
  let subject: KafkaSubject;
  let log: LogSource;
  beforeAll(async () => {
    subject = await KafkaSubject.connect((kafka ?? '').split(','));
    ({ log } = subject.open());
  });
  afterAll(() => subject[Symbol.asyncDispose]());

  /** The next changes of what is owned, one a call. */
  function assignmentsOf(session: LogSession): () => Promise<Assignment> {
    const assignments = session.assignments(never)[Symbol.asyncIterator]();
    return async () => {
      const next = (await assignments.next()) as IteratorResult<Assignment, undefined>;
      if (next.done === true) throw new Error('The assignments ended.');
      return next.value;
    };
  }

  test('one that is deleted is not there any more, while the other goes on and nothing is rejoined', async () => {
    const [gone, other] = [subject.topicName(), subject.topicName()];
    for (const topic of [gone, other]) {
      await subject.createTopic(topic, 1);
      await subject.append({ topic, partition: 0 }, numbered(5));
    }
    const session = log.open('Deleted', [gone, other]);
    const nextAssignment = assignmentsOf(session);
    expect((await nextAssignment()).assigned).toHaveLength(2);
    expect(keysOf(await pullAtOnce(session, { topic: gone, partition: 0, offset: 0 }))).toHaveLength(5);
    const more = nextAssignment().catch(() => undefined);
    await subject.deleteTopic(gone);
    await expect(
      session.pull({ topic: gone, partition: 0, offset: 5 }, { records: 9, bytes: 99, waitMs: 30_000 }, never),
    ).rejects.toMatchObject({ code: 'UNAVAILABLE', message: `The topic ${gone} does not exist.` });
    // Longer than the session's timeout would not do more: the heartbeats go on.
    const read = readOn(session, { topic: other, partition: 0, offset: 0 }, { count: 105 });
    for (let batch = 0; batch < 20; batch += 1) {
      await subject.append({ topic: other, partition: 0 }, numbered(5, 5 + batch * 5));
      await sleep(100);
    }
    expect((await read).next).toBe(105);
    const rejoined = await Promise.race([more, sleep(100, undefined)]);
    // At most the deleted topic was taken back by the group.
    expect(rejoined === undefined || rejoined.lost.every(({ topic }) => topic === gone)).toBe(true);
    await session.stop();
  });

  test.each([
    ['empty', 0],
    ['longer than before', 20],
  ])(
    'one that is made anew, %s, is another log: its reader is told, and nothing of it is served',
    async (_how, records) => {
      const topic = subject.topicName();
      const at = { topic, partition: 0 };
      await subject.createTopic(topic, 1);
      await subject.append(at, numbered(10));
      const session = log.open(`Anew${records}`, [topic]);
      const { identity } = await log.describe(topic);
      expect(keysOf(await pullAtOnce(session, { ...at, offset: 0 }))).toHaveLength(10);
      const waiting = session.pull({ ...at, offset: 10 }, { records: 9, bytes: 99, waitMs: 30_000 }, never);
      const outcome = waiting.then(
        () => 'records',
        ({ code }: { code: string }) => code,
      );
      await subject.deleteTopic(topic);
      await subject.createTopic(topic, 1);
      if (records > 0) await subject.append(at, numbered(records));
      expect(['LOG_CHANGED', 'UNAVAILABLE']).toContain(await outcome);
      await expect(pullAtOnce(session, { ...at, offset: 10 })).rejects.toMatchObject({ code: 'LOG_CHANGED' });
      expect((await log.describe(topic)).identity).not.toBe(identity);
      await session.stop();
    },
  );

  test('partitions that are added are assigned within a metadata age', async () => {
    const topic = subject.topicName();
    await subject.createTopic(topic, 1);
    const session = log.open('Growth', [topic]);
    const nextAssignment = assignmentsOf(session);
    expect(await nextAssignment()).toEqual({ assigned: [{ topic, partition: 0 }], lost: [] });
    await subject.admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] });
    const added: number[] = [];
    while (added.length < 2) {
      const { assigned, lost } = await nextAssignment();
      expect(lost).toEqual([]);
      added.push(...assigned.map(({ partition }) => partition));
    }
    expect(added.toSorted((a, b) => a - b)).toEqual([1, 2]);
    await subject.append({ topic, partition: 2 }, numbered(1));
    expect(keysOf(await pullAtOnce(session, { topic, partition: 2, offset: 0 }))).toEqual(['k0']);
    await session.stop();
  });

  test('one that does not exist yet is followed once it does', async () => {
    const topic = subject.topicName();
    const session = log.open('Later', [topic]);
    const nextAssignment = assignmentsOf(session);
    expect(await nextAssignment()).toEqual({ assigned: [], lost: [] });
    await subject.createTopic(topic, 1);
    await subject.append({ topic, partition: 0 }, numbered(1));
    expect(await nextAssignment()).toEqual({ assigned: [{ topic, partition: 0 }], lost: [] });
    expect(keysOf(await pullAtOnce(session, { topic, partition: 0, offset: 0 }))).toEqual(['k0']);
    await session.stop();
  });
});
