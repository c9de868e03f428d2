import { describe, expect, test } from 'vitest';
import { into, projection } from '../../../src/projections/projection.ts';
import { readModel } from '../../../src/read-models/read-model.ts';
import { worker } from '../../../src/subscriptions/worker.ts';
import {
  Codes,
  caughtUp,
  keepRow,
  Order,
  Orders,
  parkedIn,
  partition,
  partitionStatus,
  publish,
  rowsOf,
  settings,
  shopWorker,
  shopWorld,
  started,
  stopped,
} from './shop-world.ts';

describe('Caught up', () => {
  test('is told when every subscription has passed the ends that the log had when it was asked', async () => {
    const world = shopWorld({ partitions: 3 });
    const Slow = readModel<{ version: number }>('slow_orders');
    const definition = worker({
      context: 'shop',
      subscriptions: [
        projection('OrderProjection', {
          onEvent: into(Orders, Order.onState(keepRow)),
          onSlow: into(
            Slow,
            Order.onState(({ ref, version }) => Slow.put(ref.id, { version })),
          ),
        }),
      ],
    });
    for (let number = 0; number < 30; number += 1) publish(world, `o${number}`, { version: 1, partition: number % 3 });
    const process = started(world, definition);
    const asked = process.engine.caughtUp(new AbortController().signal);
    world.clock.at(0, () => publish(world, 'later', { version: 1 }));
    const found = await world.clock.runUntil(asked);
    expect(found.isComplete).toBe(true);
    expect(Object.keys(await rowsOf(world)).length).toBeGreaterThanOrEqual(30);
    expect(Object.keys(await rowsOf(world, 'slow_orders')).length).toBeGreaterThanOrEqual(30);
    await stopped(world, process);
  });

  test('is told at once where there is nothing to do, and where the topic does not exist', async () => {
    const world = shopWorld({ partitions: 0 });
    const process = started(world);
    const found = await caughtUp(world, process);
    expect(found).toMatchObject({ isComplete: true, subscriptions: [{ partitions: [] }] });
    await stopped(world, process);
    world.log.createTopic(Order.topic, 2);
    const again = started(world);
    expect((await caughtUp(world, again)).isComplete).toBe(true);
    expect(world.clock.monotonicMs()).toBeLessThan(100);
    await stopped(world, again);
  });

  test('waits for the first retry of what was parked', async () => {
    const definition = worker({
      context: 'shop',
      subscriptions: [
        projection('OrderProjection', {
          onEvent: into(
            Codes,
            Order.onState(({ ref, state }) => Codes.put(ref.id, { code: state.code ?? '' })),
          ),
        }),
      ],
    });
    const world = shopWorld();
    publish(world, 'a', { version: 1, code: 'x' });
    publish(world, 'b', { version: 1, code: 'x' });
    const process = started(world, definition);
    const found = await caughtUp(world, process);
    expect(world.clock.monotonicMs()).toBeGreaterThanOrEqual(1_000);
    expect(found.isComplete).toBe(true);
    expect((await parkedIn(world))[0]?.failure?.attempts).toBe(2);
    expect(found.subscriptions[0]?.partitions[0]?.parked).toBe(1);
    await stopped(world, process);
  });

  test('does not wait for what an operator has to do', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1, status: 'poison' });
    const process = started(world);
    expect((await caughtUp(world, process)).isComplete).toBe(true);
    expect(world.clock.monotonicMs()).toBeLessThan(100);
    await stopped(world, process);
  });

  test('answers, incomplete, where a partition is stopped or has a gap', async () => {
    const world = shopWorld({ partitions: 2 });
    publish(world, 'a', { version: 1, status: 'poison' });
    publish(world, 'a', { version: 2 });
    publish(world, 'b', { version: 1, partition: 1 });
    const process = started(world, shopWorker(), { settings: settings({ parked: { perAggregate: 1 } }) });
    expect((await caughtUp(world, process)).isComplete).toBe(false);
    await stopped(world, process);
    world.log.expire(partition(1), 1);
    world.log.truncate(partition(1), 0);
    const again = started(world);
    expect((await caughtUp(world, again)).isComplete).toBe(false);
    expect(partitionStatus(again, 1)?.state).toBe('gap');
    await stopped(world, again);
  });

  test('answers, incomplete, on abort', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1 });
    const process = started(world);
    world.down.add('store');
    const asking = new AbortController();
    const answer = process.engine.caughtUp(asking.signal);
    await world.clock.advance(5_000);
    asking.abort();
    expect((await world.clock.runUntil(answer)).isComplete).toBe(false);
    await stopped(world, process);
  });

  test('counts what was taken from the log', async () => {
    const world = shopWorld();
    for (let number = 0; number < 12; number += 1) publish(world, `o${number}`, { version: 1 });
    const process = started(world);
    const found = await caughtUp(world, process);
    expect(found.subscriptions[0]).toMatchObject({
      subscription: 'OrderProjection.onEvent',
      kind: 'projection',
      taken: 12,
    });
    await stopped(world, process);
  });
});

describe('Partitions that another process owns', () => {
  test('count by their stored checkpoints', async () => {
    const world = shopWorld({ partitions: 2, assigning: 'by hand' });
    publish(world, 'a', { version: 1 });
    publish(world, 'b', { version: 1, partition: 1 });
    const first = started(world, shopWorker(), { name: 'first' });
    const second = started(world, shopWorker(), { name: 'second' });
    await world.clock.advance(100);
    world.log.sessions[0]?.assign({ assigned: [partition(0)], lost: [] });
    const asked = first.engine.caughtUp(new AbortController().signal);
    const late = world.clock.runUntil(asked);
    world.clock.at(20_000, () => world.log.sessions[1]?.assign({ assigned: [partition(1)], lost: [] }));
    expect((await late).isComplete).toBe(true);
    expect(world.clock.monotonicMs()).toBeGreaterThan(20_000);
    expect(world.clock.monotonicMs()).toBeLessThan(25_000);
    expect(Object.keys(await rowsOf(world)).toSorted()).toEqual(['a', 'b']);
    await stopped(world, first);
    await stopped(world, second);
  });
});
