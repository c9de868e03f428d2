import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { LogSession } from '../../../src/log/log-source.ts';
import { partitionKey, type TopicPartition } from '../../../src/log/position.ts';
import { KafkaSubject } from './kafka-subject.ts';
import { keysOf, never, numbered, pullAtOnce } from './pulling.ts';

const kafka = inject('kafka');

/** What a session owns, by what it was told. */
class Follower {
  readonly owned = new Set<string>();
  readonly lost: string[] = [];
  readonly session: LogSession;

  constructor(session: LogSession) {
    this.session = session;
    void this.#follow();
  }

  async #follow(): Promise<void> {
    for await (const { assigned, lost } of this.session.assignments(never)) {
      for (const key of lost.map(partitionKey)) {
        this.owned.delete(key);
        this.lost.push(key);
      }
      for (const key of assigned.map(partitionKey)) this.owned.add(key);
    }
  }
}

async function until(holds: () => boolean, withinMs = 15_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`not so within ${withinMs} ms: ${holds.toString()}`);
    await sleep(20);
  }
}

describe.skipIf(kafka === undefined)('groups of Kafka', () => {
  let subject: KafkaSubject;
  beforeAll(async () => {
    subject = await KafkaSubject.connect((kafka ?? '').split(','));
  });
  afterAll(() => subject[Symbol.asyncDispose]());

  async function topicOf(partitions: number): Promise<string> {
    const topic = subject.topicName();
    await subject.createTopic(topic, partitions);
    return topic;
  }

  test('share partitions out when a member joins, and give them back when it leaves', async () => {
    const topic = await topicOf(4);
    const clientId = `share-${topic}`;
    const [one, two] = [subject.open({ clientId }).log, subject.open({ clientId }).log];
    const first = new Follower(one.open('Shared', [topic]));
    await until(() => first.owned.size === 4);
    const second = new Follower(two.open('Shared', [topic]));
    await until(() => first.owned.size === 2 && second.owned.size === 2);
    expect(new Set([...first.owned, ...second.owned]).size).toBe(4);
    // What the other owns is not read here.
    for (let partition = 0; partition < 4; partition += 1) await subject.append({ topic, partition }, numbered(1));
    const read = async ({ session }: Follower): Promise<readonly unknown[]> => {
      const at = (partition: number): TopicPartition => ({ topic, partition });
      const batches = await Promise.all(
        [0, 1, 2, 3].map((partition) => pullAtOnce(session, { ...at(partition), offset: 0 })),
      );
      return batches.filter(({ records }) => records.length > 0).map(partitionKey);
    };
    expect(new Set(await read(first))).toEqual(first.owned);
    expect(new Set(await read(second))).toEqual(second.owned);
    await second.session.stop();
    await until(() => first.owned.size === 4);
    await first.session.stop();
  });

  test('give partitions only to members that follow their topic', async () => {
    const [old, added] = [await topicOf(2), await topicOf(2)];
    const clientId = `mixed-${old}`;
    const first = new Follower(subject.open({ clientId }).log.open('Mixed', [old]));
    await until(() => first.owned.size === 2);
    const second = new Follower(subject.open({ clientId }).log.open('Mixed', [old, added]));
    const ofTopic = (topic: string, { owned }: Follower): number =>
      [...owned].filter((key) => key.endsWith(topic)).length;
    await until(() => first.owned.size + second.owned.size === 4 && ofTopic(added, second) === 2);
    expect(ofTopic(added, first)).toBe(0);
    await Promise.all([first.session.stop(), second.session.stop()]);
  });

  test('are told positions of partitions that are owned, the last ones before a member leaves', async () => {
    const topic = await topicOf(2);
    const clientId = `mirror-${topic}`;
    const { log } = subject.open({ clientId });
    const follower = new Follower(log.open('Mirrored', [topic]));
    await until(() => follower.owned.size === 2);
    const told = async (): Promise<readonly string[] | undefined> => {
      const offsets = await subject.admin.fetchOffsets({ groupId: `${clientId}.Mirrored`, topics: [topic] });
      return offsets[0]?.partitions.toSorted((a, b) => a.partition - b.partition).map(({ offset }) => offset);
    };
    log.mirror('Mirrored', { topic, partition: 0, offset: 7 });
    log.mirror('Another', { topic, partition: 1, offset: 7 });
    await sleep(500);
    expect(await told()).toEqual(['7', '-1']);
    log.mirror('Mirrored', { topic, partition: 0, offset: 9 });
    await follower.session.stop();
    expect(await told()).toEqual(['9', '-1']);
  });

  test('that put a member out give it everything anew, as lost and then as assigned', async () => {
    const topic = await topicOf(2);
    await subject.append({ topic, partition: 0 }, numbered(3));
    const clientId = `evicted-${topic}`;
    const follower = new Follower(subject.open({ clientId }).log.open('Evicted', [topic]));
    await until(() => follower.owned.size === 2);
    const groupId = `${clientId}.Evicted`;
    const { groups } = await subject.admin.describeGroups([groupId]);
    const members = (groups[0]?.members ?? []).map(({ memberId }) => memberId);
    expect(members).toHaveLength(1);
    await subject.evict(groupId, members[0] ?? '');
    await until(() => follower.lost.length === 2 && follower.owned.size === 2);
    expect(keysOf(await pullAtOnce(follower.session, { topic, partition: 0, offset: 0 }))).toHaveLength(3);
    await follower.session.stop();
  });

  test('are left in time, whenever that is', async () => {
    const topic = await topicOf(1);
    const { log } = subject.open();
    for (const afterMs of [0, 3, 30]) {
      const session = log.open(`Left${afterMs}`, [topic]);
      const over = new AbortController();
      const following = (async () => {
        for await (const _ of session.assignments(over.signal)) continue;
      })();
      await sleep(afterMs);
      const startedAt = performance.now();
      over.abort();
      await session.stop();
      await following;
      expect(performance.now() - startedAt).toBeLessThan(3_000);
    }
  });

  test('that cannot be reached are left in time too', async () => {
    const { log } = subject.open({ brokers: ['127.0.0.1:1'] });
    const session = log.open('Away', ['any']);
    const over = new AbortController();
    const following = session.assignments(over.signal)[Symbol.asyncIterator]().next();
    await sleep(100);
    const startedAt = performance.now();
    await session.stop();
    expect(await following).toMatchObject({ done: true });
    expect(performance.now() - startedAt).toBeLessThan(4_000);
  });

  test('cost no fetches while nobody asks for records', async () => {
    const topic = await topicOf(1);
    await subject.append({ topic, partition: 0 }, numbered(3));
    const follower = new Follower(subject.open().log.open('Idle', [topic]));
    await until(() => follower.owned.size === 1);
    const sockets = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
    const before = sockets();
    await sleep(700);
    expect(sockets()).toBe(before);
    await pullAtOnce(follower.session, { topic, partition: 0, offset: 3 });
    expect(sockets()).toBeGreaterThan(before);
    await follower.session.stop();
  });
});
