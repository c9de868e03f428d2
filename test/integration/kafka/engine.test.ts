import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openEmbedded } from '../../../src/adapters/embedded/index.ts';
import { nodeRuntime } from '../../../src/adapters/node/node-runtime.ts';
import { aggregate } from '../../../src/aggregates/aggregate.ts';
import { Engine } from '../../../src/engine/engine.ts';
import { into, projection } from '../../../src/projections/projection.ts';
import { readModel } from '../../../src/read-models/read-model.ts';
import { silentLogger } from '../../../src/runtime/logger.ts';
import { defaultSettings } from '../../../src/subscriptions/settings.ts';
import { worker } from '../../../src/subscriptions/worker.ts';
import { commit } from '../../../src/testing/commit.ts';
import { KafkaSubject } from './kafka-subject.ts';

const kafka = inject('kafka');

/** The engine on Kafka's log, with the stores of an embedded file in memory. */
describe.skipIf(kafka === undefined)('a worker on Kafka', () => {
  let subject: KafkaSubject;
  beforeAll(async () => {
    subject = await KafkaSubject.connect((kafka ?? '').split(','));
  });
  afterAll(() => subject[Symbol.asyncDispose]());

  async function shop(partitions: number) {
    const topic = subject.topicName();
    const Order = aggregate<{ readonly n: number }, { changed: object }>('shop.order', { topicName: topic });
    const Orders = readModel<{ readonly n: number }>('orders');
    const definition = worker({
      context: 'shop',
      subscriptions: [
        projection('OrderProjection', {
          onEvent: into(
            Orders,
            Order.onState(({ ref, state }) => Orders.put(ref.id, state)),
          ),
        }),
      ],
    });
    await subject.createTopic(topic, partitions);
    const kafkaLog = subject.open();
    const file = await openEmbedded({ file: ':memory:', role: 'follower' });
    const { checkpoints, ledger, readModels } = file;
    const stores = { checkpoints, ledger, readModels, log: kafkaLog.log };
    const start = (): Engine => {
      const runtime = nodeRuntime(silentLogger);
      const engine = new Engine({
        worker: definition,
        stores,
        runtime,
        settings: () => defaultSettings,
        owner: 'test',
      });
      engine.start();
      return engine;
    };
    return {
      topic,
      start,
      append: async (ids: readonly string[], version: number) => {
        const lines = ids.map((id) =>
          commit(Order, { id, version, events: [{ name: 'changed', body: {} }], state: { n: version } }),
        );
        await kafkaLog.append(
          lines.map((line) => JSON.stringify(line)),
          { topicOf: () => topic },
        );
      },
      partitions: async () => (await kafkaLog.log.describe(topic)).partitions.length,
      row: (id: string) => file.readModels.readRow('orders', id),
      [Symbol.asyncDispose]: () => file.close(),
    };
  }

  const ids = Array.from({ length: 40 }, (_, index) => `O-${index}`);
  const soon = () => AbortSignal.timeout(20_000);

  test('projects what is there and what comes, and goes on after a restart from its checkpoints', async () => {
    await using world = await shop(3);
    await world.append(ids, 1);
    await using first = world.start();
    expect(await first.caughtUp(soon())).toMatchObject({ isComplete: true });
    await world.append(ids, 2);
    expect(await first.caughtUp(soon())).toMatchObject({ isComplete: true });
    expect(await world.row('O-7')).toEqual({ n: 2 });
    await first.stop();
    await world.append(ids, 3);
    await using second = world.start();
    const { subscriptions, isComplete } = await second.caughtUp(soon());
    expect([isComplete, subscriptions[0]?.taken, await world.row('O-39')]).toEqual([true, 40, { n: 3 }]);
  });

  test('stops at a gap that retention left while it was away', async () => {
    await using world = await shop(1);
    await world.append(ids, 1);
    await using first = world.start();
    await first.caughtUp(soon());
    await first.stop();
    await world.append(ids, 2);
    await subject.deleteRecords(world.topic, 0, 60);
    await using second = world.start();
    const { isComplete, subscriptions } = await second.caughtUp(soon());
    expect([isComplete, subscriptions[0]?.partitions[0]]).toMatchObject([
      false,
      { state: 'gap', offset: 40, reason: expect.stringContaining('which goes from 60 to 80') as string },
    ]);
  });

  test('stops when its topic was made anew, longer than before', async () => {
    await using world = await shop(1);
    await world.append(ids.slice(0, 5), 1);
    await using first = world.start();
    await first.caughtUp(soon());
    await first.stop();
    await subject.deleteTopic(world.topic);
    await subject.createTopic(world.topic, 1);
    await world.append(ids, 1);
    await using second = world.start();
    const { isComplete, subscriptions } = await second.caughtUp(soon());
    expect([isComplete, subscriptions[0]?.partitions[0]?.state]).toEqual([false, 'stopped']);
  });

  test('takes partitions in that are added while it runs', async () => {
    await using world = await shop(1);
    await world.append(ids, 1);
    await using engine = world.start();
    await engine.caughtUp(soon());
    await subject.admin.createPartitions({ topicPartitions: [{ topic: world.topic, count: 3 }] });
    // The broker tells of them a moment later.
    await expect.poll(world.partitions).toBe(3);
    await world.append(['N-1', 'N-2', 'N-3', 'N-4', 'N-5', 'N-6'], 1);
    expect(await engine.caughtUp(soon())).toMatchObject({ isComplete: true });
    expect(await world.row('N-4')).toEqual({ n: 1 });
    expect(engine.status()[0]?.partitions).toHaveLength(3);
  });
});
