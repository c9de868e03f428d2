import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { LogSession } from '../../../src/log/log-source.ts';
import { KafkaServers } from '../../services/kafka-servers.ts';
import { KafkaSubject } from './kafka-subject.ts';
import { never, numbered, readOn } from './pulling.ts';

const kafka = inject('kafka');

/** Two brokers of our own: they are killed, frozen and started again. The first one is the controller too. */
describe.skipIf(kafka === undefined)('brokers of Kafka that fail', () => {
  let servers: KafkaServers;
  let subject: KafkaSubject;
  beforeAll(async () => {
    servers = await KafkaServers.start({
      brokers: 2,
      // A dead broker is noticed sooner than after 9 s.
      properties: { 'broker.session.timeout.ms': '3000', 'broker.heartbeat.interval.ms': '500' },
    });
    subject = await KafkaSubject.connect(servers.brokers);
  });
  afterAll(async () => {
    await subject[Symbol.asyncDispose]();
    await servers[Symbol.asyncDispose]();
  });

  /** A member that owns everything, and how often it was told so. */
  function follow(session: LogSession): { readonly changes: number[] } {
    const changes: number[] = [];
    void (async () => {
      for await (const { assigned, lost } of session.assignments(never)) changes.push(assigned.length - lost.length);
    })();
    return { changes };
  }

  async function waitFor(holds: () => boolean): Promise<void> {
    for (let tries = 0; tries < 500 && !holds(); tries += 1) await sleep(20);
    expect(holds()).toBe(true);
  }

  test('one after the other: nothing is missed, repeated or out of order, and the healthy one goes on meanwhile', async () => {
    const [steady, moved] = [subject.topicName(), subject.topicName()];
    await subject.createTopic(steady, 1, { replicaAssignment: [1] });
    await subject.createTopic(moved, 1, { replicaAssignment: [2] });
    const { log } = subject.open({ requestTimeoutMs: 1_000 });
    const session = log.open('Brokers', [steady, moved]);
    const member = follow(session);
    await waitFor(() => member.changes.length > 0);
    for (const topic of [steady, moved]) await subject.append({ topic, partition: 0 }, numbered(5));
    const first = await readOn(session, { topic: moved, partition: 0, offset: 0 }, { count: 5 });

    await servers.signalBroker(2, 'SIGKILL');
    // Its only replica is down; the other one's topic is read all the same, and fast.
    const alone = await readOn(session, { topic: steady, partition: 0, offset: 0 }, { count: 5, withinMs: 2_000 });
    await expect(
      session.pull({ topic: moved, partition: 0, offset: 5 }, { records: 9, bytes: 999, waitMs: 20_000 }, never),
    ).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await subject.append({ topic: steady, partition: 0 }, numbered(5, 5));
    const live = await readOn(session, { topic: steady, partition: 0, offset: 5 }, { count: 5, withinMs: 2_000 });

    await servers.startBroker(2);
    const reading = readOn(session, { topic: moved, partition: 0, offset: 5 }, { count: 5, withinMs: 30_000 });
    await servers.ready();
    await subject.append({ topic: moved, partition: 0 }, numbered(5, 5));
    const offsets = [first, await reading].flatMap(({ records }) => records.map(({ offset }) => offset));
    expect(offsets).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect([alone.records.length, live.next]).toEqual([5, 10]);
    await session.stop();
  }, 60_000);

  test('by freezing: the reader goes on as soon as it wakes', async () => {
    const topic = subject.topicName();
    await subject.createTopic(topic, 1, { replicaAssignment: [2] });
    const { log } = subject.open({ requestTimeoutMs: 500 });
    const session = log.open('Frozen', [topic]);
    await subject.append({ topic, partition: 0 }, numbered(3));
    await readOn(session, { topic, partition: 0, offset: 0 }, { count: 3 });
    await servers.signalBroker(2, 'SIGSTOP');
    const reading = readOn(session, { topic, partition: 0, offset: 3 }, { count: 1, withinMs: 20_000 });
    await sleep(2_000);
    await servers.signalBroker(2, 'SIGCONT');
    await subject.append({ topic, partition: 0 }, numbered(1, 3));
    expect((await reading).records).toMatchObject([{ key: 'k3', offset: 3 }]);
    await session.stop();
  });

  test('by freezing for longer than a member may be silent: it gives up what it owns, reads nothing, and is back later', async () => {
    const topic = subject.topicName();
    await subject.createTopic(topic, 1, { replicaAssignment: [1] });
    const { log } = subject.open({ requestTimeoutMs: 500, sessionTimeoutMs: 6_000 });
    const session = log.open('Silent', [topic]);
    const member = follow(session);
    await waitFor(() => member.changes.length === 1);
    await subject.append({ topic, partition: 0 }, numbered(3));
    const from = { topic, partition: 0, offset: 0 };
    const { records } = await session.pull(from, { records: 1, bytes: 999, waitMs: 5_000 }, never);
    await Promise.all([1, 2].map((broker) => servers.signalBroker(broker, 'SIGSTOP')));
    await waitFor(() => member.changes.length === 2);
    // Two more were fetched before; another member may have them now.
    const silent = await session.pull({ ...from, offset: 1 }, { records: 9, bytes: 999, waitMs: 0 }, never);
    await Promise.all([1, 2].map((broker) => servers.signalBroker(broker, 'SIGCONT')));
    await waitFor(() => member.changes.length === 3);
    const rest = await readOn(session, { ...from, offset: 1 }, { count: 2 });
    expect(member.changes).toEqual([1, -1, 1]);
    expect([records, silent.records, rest.records].map(({ length }) => length)).toEqual([1, 0, 2]);
    await session.stop();
  }, 60_000);

  test('by losing the lead of a partition: the reader follows the new leader', async () => {
    const topic = subject.topicName();
    await subject.createTopic(topic, 1, { replicaAssignment: [1] });
    const { log } = subject.open();
    const session = log.open('Moved', [topic]);
    await subject.append({ topic, partition: 0 }, numbered(3));
    const before = await readOn(session, { topic, partition: 0, offset: 0 }, { count: 3 });
    const reading = readOn(session, { topic, partition: 0, offset: 3 }, { count: 3, withinMs: 20_000 });
    await subject.admin.alterPartitionReassignments({
      topics: [{ topic, partitionAssignment: [{ partition: 0, replicas: [2] }] }],
    });
    for (let at = 0; at < 3; at += 1) {
      await sleep(200);
      await subject.append({ topic, partition: 0 }, numbered(1, 3 + at));
    }
    expect([...before.records, ...(await reading).records].map(({ offset }) => offset)).toEqual([0, 1, 2, 3, 4, 5]);
    await session.stop();
  });

  test('all at once: the reader and its membership come back by themselves', async () => {
    const topic = subject.topicName();
    await subject.createTopic(topic, 1, { replicaAssignment: [1] });
    const { log } = subject.open({ requestTimeoutMs: 1_000 });
    const session = log.open('All', [topic]);
    const member = follow(session);
    await waitFor(() => member.changes.length > 0);
    await subject.append({ topic, partition: 0 }, numbered(3));
    await readOn(session, { topic, partition: 0, offset: 0 }, { count: 3 });
    await Promise.all([servers.signalBroker(1, 'SIGKILL'), servers.signalBroker(2, 'SIGKILL')]);
    await expect(log.describe(topic)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    const reading = readOn(session, { topic, partition: 0, offset: 3 }, { count: 1, withinMs: 45_000 });
    await Promise.all([servers.startBroker(1), servers.startBroker(2)]);
    await servers.ready();
    await subject.append({ topic, partition: 0 }, numbered(1, 3));
    expect((await reading).records).toMatchObject([{ offset: 3 }]);
    await session.stop();
  }, 90_000);
});
