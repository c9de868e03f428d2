import { zstdCompressSync } from 'node:zlib';
import { CompressionCodecs, CompressionTypes } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { LogSource } from '../../../src/log/log-source.ts';
import { KafkaSubject } from './kafka-subject.ts';
import { keysOf, never, numbered, pullAtOnce, readOn } from './pulling.ts';

const kafka = inject('kafka');

describe.skipIf(kafka === undefined)('reading from Kafka', () => {
  let subject: KafkaSubject;
  let log: LogSource;
  beforeAll(async () => {
    subject = await KafkaSubject.connect((kafka ?? '').split(','));
    ({ log } = subject.open());
  });
  afterAll(() => subject[Symbol.asyncDispose]());

  async function topicWith(records: readonly { key: string; value: string }[], partitions = 1): Promise<string> {
    const topic = subject.topicName();
    await subject.createTopic(topic, partitions);
    if (records.length > 0) await subject.append({ topic, partition: 0 }, records);
    return topic;
  }

  test('below what retention left, and above the end, is an error with the bounds, beside partitions that go on', async () => {
    const topic = await topicWith(numbered(100), 2);
    await subject.append({ topic, partition: 1 }, numbered(3));
    await subject.deleteRecords(topic, 0, 50);
    const session = log.open('Bounds', [topic]);
    const [below, above, beside] = await Promise.allSettled([
      pullAtOnce(session, { topic, partition: 0, offset: 10 }),
      pullAtOnce(log.open('Bounds2', [topic]), { topic, partition: 0, offset: 101 }),
      pullAtOnce(session, { topic, partition: 1, offset: 0 }),
    ]);
    const outOfRange = { code: 'OFFSET_OUT_OF_RANGE', details: { low: 50, end: 100 } };
    expect(below).toMatchObject({ reason: outOfRange });
    expect(above).toMatchObject({ reason: outOfRange });
    expect(beside).toMatchObject({ value: { nextOffset: 3, low: 0, end: 3 } });
    expect(await pullAtOnce(session, { topic, partition: 0, offset: 50 }, { records: 1 })).toMatchObject({
      records: [{ offset: 50, key: 'k50' }],
      low: 50,
    });
    await session.stop();
  });

  test('retention that passes a reader at rest shows in the bounds', async () => {
    const topic = await topicWith(numbered(10));
    const session = log.open('Retention', [topic]);
    await subject.deleteRecords(topic, 0, 10);
    expect(await pullAtOnce(session, { topic, partition: 0, offset: 10 })).toMatchObject({ low: 10, end: 10 });
    await session.stop();
  });

  test('a value of 5 MB and a tombstone come as they are, beside a busy partition', async () => {
    const topic = await topicWith([{ key: 'large', value: 'x'.repeat(5_000_000) }], 2);
    const chunk = numbered(1_000).map(({ key }) => ({ key, value: 'y'.repeat(900) }));
    for (let batch = 0; batch < 3; batch += 1) await subject.append({ topic, partition: 1 }, chunk);
    await subject.append({ topic, partition: 0 }, [{ key: 'gone', value: undefined }]);
    const session = log.open('Large', [topic]);
    const [large, busy] = await Promise.all([
      readOn(session, { topic, partition: 0, offset: 0 }, { count: 2 }),
      readOn(session, { topic, partition: 1, offset: 0 }, { count: 3_000 }),
    ]);
    expect(large.records.map(({ key, value }) => [key, value?.length])).toEqual([
      ['large', 5_000_000],
      ['gone', undefined],
    ]);
    expect(busy.records.map(({ offset }) => offset)).toEqual(Array.from({ length: 3_000 }, (_, offset) => offset));
    expect(await log.readAt({ topic, partition: 0, offset: 0 })).toMatchObject({ key: 'large' });
    await session.stop();
  });

  test('a busy partition does not wait for the polls of idle ones beside it', async () => {
    const topic = await topicWith([], 3);
    const session = log.open('Busy', [topic]);
    const over = new AbortController();
    const idle = [0, 1].map((partition) =>
      session.pull({ topic, partition, offset: 0 }, { records: 9, bytes: 999, waitMs: 60_000 }, over.signal),
    );
    const waits: number[] = [];
    for (let offset = 0; offset < 20; offset += 1) {
      await subject.append({ topic, partition: 2 }, numbered(1, offset));
      const startedAt = performance.now();
      const batch = await session.pull(
        { topic, partition: 2, offset },
        { records: 9, bytes: 999, waitMs: 5_000 },
        never,
      );
      waits.push(performance.now() - startedAt);
      expect(batch.nextOffset).toBe(offset + 1);
    }
    over.abort();
    await Promise.all(idle);
    // A long poll takes half a second.
    expect(waits.toSorted((a, b) => a - b)[10]).toBeLessThan(100);
    await session.stop();
  });

  test.each([
    ['gzip', CompressionTypes.GZIP],
    ['zstd', CompressionTypes.ZSTD],
  ])('batches that are compressed with %s are read, from their middle too', async (_name, compression) => {
    CompressionCodecs[CompressionTypes.ZSTD] = () => ({
      compress: async ({ buffer }: { buffer: Buffer }) => zstdCompressSync(buffer),
      decompress: async () => Promise.reject(new Error('not needed')),
    });
    const topic = await topicWith([]);
    const producer = subject.kafka.producer({ idempotent: true, allowAutoTopicCreation: false });
    await producer.connect();
    await producer.send({ topic, compression, messages: numbered(50) });
    await producer.disconnect();
    const session = log.open('Compressed', [topic]);
    const { records } = await readOn(session, { topic, partition: 0, offset: 7 }, { count: 43 });
    expect(keysOf({ records })).toEqual(numbered(43, 7).map(({ key }) => key));
    await session.stop();
  });

  test('a codec without package is a clear error, after the records before it', async () => {
    const topic = await topicWith(numbered(2));
    // Snappy that compresses nothing: its length, and one literal.
    const compress = (bytes: Buffer): Buffer =>
      Buffer.concat([Buffer.from([bytes.length, (bytes.length - 1) << 2]), bytes]);
    await subject.append({ topic, partition: 0 }, [{ key: 'k', value: 'v' }], { attributes: 2, compress });
    const session = log.open('Codec', [topic]);
    expect(await pullAtOnce(session, { topic, partition: 0, offset: 0 })).toMatchObject({ nextOffset: 2, end: 3 });
    await expect(pullAtOnce(session, { topic, partition: 0, offset: 2 })).rejects.toMatchObject({
      code: 'CODEC_MISSING',
      details: { codec: 'snappy', package: 'snappy' },
    });
    await session.stop();
  });

  test('only what committed transactions hold is read, and what they leave behind is passed over', async () => {
    const topic = await topicWith([]);
    const position = { topic, partition: 0, offset: 0 };
    const producers = await Promise.all(
      ['a', 'b'].map(async (name) => {
        const producer = subject.kafka.producer({
          transactionalId: `${topic}-${name}`,
          maxInFlightRequests: 1,
          idempotent: true,
        });
        await producer.connect();
        return producer;
      }),
    );
    const [one, two] = producers;
    if (one === undefined || two === undefined) throw new Error('two producers');
    const messages = (key: string | Buffer) => [{ key, value: '{}' }];
    // Two that overlap and are aborted, one that is committed between, and one that stays open.
    const first = await one.transaction();
    await first.send({ topic, messages: messages(Buffer.alloc(4)) });
    const second = await two.transaction();
    await second.send({ topic, messages: messages('b1') });
    await first.send({ topic, messages: messages('a1') });
    await second.abort();
    await first.abort();
    const third = await two.transaction();
    await third.send({ topic, messages: messages('c') });
    await third.commit();
    const open = await one.transaction();
    await open.send({ topic, messages: messages('open') });
    await subject.append(position, [{ key: 'behind', value: '{}' }]);

    const session = log.open('Transactions', [topic]);
    const read = await readOn(session, position, { count: 1 });
    expect(keysOf(read)).toEqual(['c']);
    // Offsets 0–2 aborted, 3 and 4 their ends, 5 c, 6 its end, 7 open.
    const end = (await log.describe(topic)).partitions[0]?.end;
    expect({ next: read.next, end }).toEqual({ next: 7, end: 7 });
    for (const from of [1, 2, 3, 4]) {
      expect(keysOf(await pullAtOnce(session, { ...position, offset: from }))).toEqual(['c']);
    }
    expect(await log.readAt({ ...position, offset: 1 })).toBeUndefined();
    expect(await log.readAt({ ...position, offset: 5 })).toMatchObject({ key: 'c' });
    const waiting = session.pull({ ...position, offset: 7 }, { records: 9, bytes: 9_999, waitMs: 10_000 }, never);
    await open.abort();
    expect(await waiting).toMatchObject({ records: [{ key: 'behind', offset: 8 }], nextOffset: 10, end: 10 });
    await Promise.all(producers.map((producer) => producer.disconnect()));
    await session.stop();
  });

  test('a log that holds an aborted transaction alone is passed to its end', async () => {
    const topic = await topicWith([]);
    const producer = subject.kafka.producer({ transactionalId: topic, maxInFlightRequests: 1, idempotent: true });
    await producer.connect();
    const transaction = await producer.transaction();
    await transaction.send({ topic, messages: [{ key: 'z', value: '{}' }] });
    await transaction.abort();
    await producer.disconnect();
    const session = log.open('Aborted', [topic]);
    // The end of a transaction is written a moment after it is acknowledged.
    const limits = { records: 9, bytes: 999, waitMs: 10_000 };
    const batch = await session.pull({ topic, partition: 0, offset: 0 }, limits, never);
    expect(batch).toMatchObject({ records: [], nextOffset: 2, end: 2 });
    await session.stop();
  });
});
