import { describe, expect, test } from 'vitest';
import { into, projection } from '../../../src/projections/projection.ts';
import type { Subscription } from '../../../src/subscriptions/subscription.ts';
import { type Worker, worker } from '../../../src/subscriptions/worker.ts';
import {
  caughtUp,
  checkpointOf,
  follow,
  keepRow,
  Order,
  Orders,
  partition,
  partitionStatus,
  publish,
  rowsOf,
  scope,
  settings,
  shopWorker,
  shopWorld,
  started,
  stopped,
} from './shop-world.ts';

/** The usual projection, as if it were a reactor: only its default start differs. */
function reactorOf(context: string): Worker {
  const subscriptions = shopWorker().subscriptions.map((each): Subscription => ({ ...each, kind: 'reactor' }));
  return { kind: 'tidemark.worker', context, subscriptions };
}

function starting(start: string): Worker {
  return worker({
    context: 'shop',
    subscriptions: [projection('OrderProjection', { onEvent: into(Orders, Order.onState(keepRow, { start })) })],
  });
}

describe('A subscription without a checkpoint', () => {
  test('starts at the beginning as a projection', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1 });
    const process = await follow(world);
    expect(Object.keys(await rowsOf(world))).toEqual(['a']);
    expect(await world.stores.checkpoints.initialisation(scope, Order.topic)).toMatchObject({
      origin: 'start: beginning (projection default)',
      starts: [{ partition: 0, offset: 0 }],
    });
    expect(partitionStatus(process)?.origin).toBe('start: beginning (projection default)');
  });

  test('starts at the end as a reactor of its own context, and at the beginning of a foreign one', async () => {
    for (const [context, rows] of [
      ['shop', ['b']],
      ['billing', ['a', 'b']],
    ] as const) {
      const world = shopWorld();
      publish(world, 'a', { version: 1 });
      const process = started(world, reactorOf(context));
      await caughtUp(world, process);
      publish(world, 'b', { version: 1 });
      await caughtUp(world, process);
      expect(Object.keys(await rowsOf(world))).toEqual(rows);
      await stopped(world, process);
    }
  });

  test('starts where the config says, rather than the code', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1 });
    await follow(world, starting('beginning'), { settings: settings({ start: 'end' }) });
    expect(await rowsOf(world)).toEqual({});
    expect((await world.stores.checkpoints.initialisation(scope, Order.topic))?.origin).toBe('start: end (config)');
  });

  test('starts with the event stamped at its instant, and takes everything behind it', async () => {
    const world = shopWorld();
    for (const id of ['a', 'b', 'c']) {
      publish(world, id, { version: 1 });
      await world.clock.advance(1_000);
    }
    const at = new Date(world.clock.nowMs() - 2_000).toISOString();
    await follow(world, starting(at));
    expect(Object.keys(await rowsOf(world))).toEqual(['b', 'c']);
  });

  test('starts at the end with an instant after the last event', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1 });
    await world.clock.advance(60_000);
    await follow(world, starting(new Date(world.clock.nowMs()).toISOString()));
    expect((await checkpointOf(world))?.offset).toBe(1);
    expect(await rowsOf(world)).toEqual({});
  });

  test('is stopped by a start in the future, and says so', async () => {
    const world = shopWorld();
    const process = started(world, starting('2199-01-01T00:00:00Z'));
    const found = await caughtUp(world, process);
    expect(found.isComplete).toBe(false);
    expect(found.subscriptions[0]?.stopped).toContain('lies in the future');
    await stopped(world, process);
  });

  test('handles nothing before its start could be recorded, and then misses nothing', async () => {
    const world = shopWorld();
    const definition = reactorOf('shop');
    world.down.add('store');
    const process = started(world, definition);
    await world.clock.advance(60_000);
    publish(world, 'a', { version: 1 });
    world.down.delete('store');
    await caughtUp(world, process);
    publish(world, 'b', { version: 1 });
    await caughtUp(world, process);
    // `a` came before the start was recorded; everything after that is handled.
    expect(Object.keys(await rowsOf(world))).toEqual(['b']);
    await stopped(world, process);
  });
});

describe('A start', () => {
  test('has no say once there is a checkpoint', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1 });
    await follow(world);
    publish(world, 'b', { version: 1 });
    await follow(world, shopWorker(), { settings: settings({ start: 'end' }) });
    expect(Object.keys(await rowsOf(world))).toEqual(['a', 'b']);
  });

  test('is agreed on by two nodes that begin at once: the first that was saved', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1 });
    const first = started(world, starting('end'));
    const second = started(world, starting('beginning'));
    await caughtUp(world, first);
    await caughtUp(world, second);
    const agreed = await world.stores.checkpoints.initialisation(scope, Order.topic);
    const offset = agreed?.origin === 'start: end (code)' ? 1 : 0;
    expect(agreed?.starts).toEqual([{ partition: 0, offset }]);
    expect(Object.keys(await rowsOf(world))).toEqual(offset === 1 ? [] : ['a']);
    await stopped(world, first);
    await stopped(world, second);
  });

  test('of a partition that was added later is its beginning', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1 });
    await follow(world, shopWorker(), { settings: settings({ start: 'end' }) });
    world.log.createTopic(Order.topic, 2);
    publish(world, 'b', { version: 1, partition: 1 });
    await follow(world, shopWorker(), { settings: settings({ start: 'end' }) });
    expect(Object.keys(await rowsOf(world))).toEqual(['b']);
  });

  test('remembers that the log had lost its beginning', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1 });
    publish(world, 'b', { version: 1 });
    world.log.expire(partition(), 1);
    await follow(world);
    expect(Object.keys(await rowsOf(world))).toEqual(['b']);
    expect(await world.stores.checkpoints.initialisation(scope, Order.topic)).toMatchObject({
      isHistoryIncomplete: true,
      starts: [{ partition: 0, offset: 1 }],
    });
  });
});
