import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { KafkaLog } from '../../../src/adapters/kafka/index.ts';
import { aggregate } from '../../../src/aggregates/aggregate.ts';
import { partitionOf } from '../../../src/log/murmur2.ts';
import { commit } from '../../../src/testing/commit.ts';
import { KafkaSubject } from './kafka-subject.ts';
import { pullAtOnce } from './pulling.ts';

const kafka = inject('kafka');
const Order = aggregate<object, { changed: object }>('eshop.order');

function commitRecord({ id, version }: { readonly id: string; readonly version: number }) {
  return commit(Order, { id, version, commitTime: 1_000, events: [{ name: 'changed', body: {} }], state: {} });
}

describe.skipIf(kafka === undefined)('appending to Kafka', () => {
  let subject: KafkaSubject;
  let log: KafkaLog;
  beforeAll(async () => {
    subject = await KafkaSubject.connect((kafka ?? '').split(','));
    log = subject.open();
  });
  afterAll(() => subject[Symbol.asyncDispose]());

  async function newTopic(partitions: number): Promise<string> {
    const topic = subject.topicName();
    await subject.createTopic(topic, partitions);
    return topic;
  }

  async function recordsOf(topic: string, partition: number) {
    const session = log.log.open('Appended', [topic]);
    try {
      return (await pullAtOnce(session, { topic, partition, offset: 0 })).records;
    } finally {
      await session.stop();
    }
  }

  test('commits go where their keys lead, stamped with their own time, and the last position is told', async () => {
    const topic = await newTopic(4);
    const lines = Array.from({ length: 40 }, (_, index) =>
      commitRecord({ id: `O-${index % 8}`, version: 1 + Math.floor(index / 8) }),
    );
    const result = await log.append(
      lines.map((record) => JSON.stringify(record)),
      { topicOf: () => topic },
    );
    const partitions = await Promise.all([0, 1, 2, 3].map((partition) => recordsOf(topic, partition)));
    const all = partitions.flat();
    expect(all).toHaveLength(40);
    for (const { key, partition, timestamp, value } of all) {
      expect(partition).toBe(partitionOf(String(key), 4));
      expect(timestamp).toBe(lines[0]?.createTime);
      expect(JSON.parse(String(value))).toMatchObject({ aggregateId: key });
    }
    const last = { topic, partition: partitionOf('O-7', 4) };
    expect(result).toEqual({
      lines: 40,
      appended: 40,
      repeated: 0,
      last: { ...last, offset: (partitions[last.partition]?.length ?? 0) - 1 },
    });
  });

  test('a bad line stores nothing, and is named', async () => {
    const topic = await newTopic(1);
    const lines = [JSON.stringify(commitRecord({ id: 'O-1', version: 1 })), '', '{"no":"commit"}'];
    await expect(log.append(lines, { topicOf: () => topic })).rejects.toMatchObject({
      code: 'BAD_RECORD',
      line: 3,
      lastStoredLine: 0,
    });
    expect(await recordsOf(topic, 0)).toEqual([]);
  });

  test('records of a foreign log are mirrored as they are', async () => {
    const topic = await newTopic(2);
    const headers = [
      ['a', 'x'],
      ['a', ''],
      ['__proto__', 'y'],
    ];
    const lines = [
      { topic, partition: 1, key: null, timestamp: 7, value: null, headers },
      { topic, partition: 0, key: 'k', timestamp: 8, value: 'no JSON' },
    ];
    await log.append(
      lines.map((line) => JSON.stringify(line)),
      { asIs: true },
    );
    expect(await recordsOf(topic, 0)).toMatchObject([{ key: 'k', value: 'no JSON', timestamp: 8, headers: [] }]);
    expect(await recordsOf(topic, 1)).toMatchObject([
      {
        key: undefined,
        value: undefined,
        timestamp: 7,
        headers: headers.map(([name, text]) => [name, text ?? undefined]),
      },
    ]);
  });

  test('partitions that were added since the last append get their records too', async () => {
    const topic = await newTopic(1);
    const lines = (from: number): readonly string[] =>
      Array.from({ length: 20 }, (_, index) => JSON.stringify(commitRecord({ id: `O-${from + index}`, version: 1 })));
    await log.append(lines(0), { topicOf: () => topic });
    await subject.admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] });
    // The broker tells of them a moment later.
    await expect.poll(async () => (await log.log.describe(topic)).partitions.length).toBe(3);
    await log.append(lines(20), { topicOf: () => topic });
    const { partitions } = await log.log.describe(topic);
    expect(partitions).toHaveLength(3);
    expect(partitions.reduce((sum, { end }) => sum + end, 0)).toBe(40);
    expect(partitions.every(({ end }) => end > 0)).toBe(true);
  });

  test('a header without value is refused, as it cannot be written', async () => {
    const line = JSON.stringify({ topic: 't', key: 'k', timestamp: 1, value: '{}', headers: [['h', null]] });
    await expect(log.append([line], { asIs: true })).rejects.toMatchObject({ code: 'BAD_RECORD', line: 1 });
  });

  test('a topic that is missing is told, and made on demand alone', async () => {
    const topic = subject.topicName();
    const line = JSON.stringify(commitRecord({ id: 'O-1', version: 1 }));
    await expect(log.append([line], { topicOf: () => topic })).rejects.toMatchObject({ code: 'TOPIC_MISSING' });
    expect((await log.log.describe(topic)).partitions).toEqual([]);
    await log.ensureTopics([topic], { partitions: 3 });
    await log.ensureTopics([topic], { partitions: 5 });
    expect((await log.log.describe(topic)).partitions).toHaveLength(3);
    expect(await log.append([line], { topicOf: () => topic })).toMatchObject({ appended: 1 });
    expect(await log.retention([topic])).toEqual([
      { topic, retentionMs: undefined, retentionBytes: undefined, isCompacted: false, isStampedByLog: false },
    ]);
  });

  test('a topic that is missing is made by the append that is told how', async () => {
    const topic = subject.topicName();
    await using making = subject.open({ newTopics: { partitions: 3 } });
    const lines = [1, 2].map((version) => JSON.stringify(commitRecord({ id: 'O-1', version })));
    expect(await making.append(lines, { topicOf: () => topic })).toMatchObject({ appended: 2 });
    const { partitions } = await log.log.describe(topic);
    expect(partitions.map(({ end }) => end).toSorted((a, b) => a - b)).toEqual([0, 0, 2]);
    const [some] = partitions;
    expect((await log.log.describe(topic, [some?.partition ?? 0, 99])).partitions).toEqual([some]);
  });

  test('a record that its topic does not take is named, after those before it', async () => {
    const topic = await newTopic(1);
    const small = { topic, key: 'k', timestamp: 1, value: 'small' };
    const lines = [small, { ...small, value: 'x'.repeat(11_000_000) }, small].map((line) => JSON.stringify(line));
    await expect(log.append(lines, { asIs: true })).rejects.toMatchObject({
      code: 'BAD_RECORD',
      line: 2,
      lastStoredLine: 1,
    });
    expect(await recordsOf(topic, 0)).toHaveLength(1);
  });

  test('a cluster that is away is told in bounded time', async () => {
    await using away = subject.open({ brokers: ['127.0.0.1:1'] });
    const line = JSON.stringify(commitRecord({ id: 'O-1', version: 1 }));
    await expect(away.append([line])).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await expect(away.log.describe('any')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
