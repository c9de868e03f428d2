import { describe, expect, test } from 'vitest';
import { into, projection } from '../../../src/projections/projection.ts';
import { worker } from '../../../src/subscriptions/worker.ts';
import {
  caughtUp,
  checkpointOf,
  follow,
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

describe('An engine', () => {
  test('keeps a row per aggregate, of the newest version', async () => {
    const world = shopWorld({ partitions: 2 });
    publish(world, 'a', { version: 1 });
    publish(world, 'b', { version: 1, partition: 1 });
    publish(world, 'a', { version: 2, status: 'paid' });
    await follow(world);
    expect(await rowsOf(world)).toEqual({ a: { status: 'paid', version: 2 }, b: { status: 'v1', version: 1 } });
  });

  test('goes on with what arrives while it runs', async () => {
    const world = shopWorld();
    const process = started(world);
    await caughtUp(world, process);
    publish(world, 'a', { version: 1 });
    await world.clock.advance(100);
    expect(await rowsOf(world)).toEqual({ a: { status: 'v1', version: 1 } });
    await stopped(world, process);
  });

  test('gives the same rows when the same commits arrive twice', async () => {
    const world = shopWorld();
    for (const version of [1, 2, 1, 2])
      publish(world, 'a', { version: version, status: version === 1 ? 'placed' : 'paid' });
    await follow(world);
    expect(await rowsOf(world)).toEqual({ a: { status: 'paid', version: 2 } });
  });

  test('does not let a late older commit overwrite a newer one', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 2, status: 'new' });
    await follow(world);
    publish(world, 'a', { version: 1, status: 'old' });
    await follow(world);
    expect(await rowsOf(world)).toEqual({ a: { status: 'new', version: 2 } });
  });

  test('does not let a late older commit bring a removed row back', async () => {
    const world = shopWorld();
    const definition = shopWorker(({ ref, version, state }) =>
      state.status === 'gone' ? Orders.remove(ref.id) : Orders.put(ref.id, { status: state.status, version }),
    );
    publish(world, 'a', { version: 2, status: 'gone' });
    await follow(world, definition);
    publish(world, 'a', { version: 1 });
    await follow(world, definition);
    expect(await rowsOf(world)).toEqual({});
  });

  test('leaves nothing in the ledger on a clean stream', async () => {
    const world = shopWorld();
    for (let version = 1; version <= 20; version += 1) publish(world, 'a', { version: version });
    await follow(world);
    expect(await parkedIn(world)).toEqual([]);
  });

  test('calls the handlers of an aggregate in log order, one at a time', async () => {
    const world = shopWorld();
    const seen: number[] = [];
    const definition = shopWorker((event) => {
      seen.push(event.version);
      return keepRow(event);
    });
    for (let version = 1; version <= 50; version += 1) publish(world, 'a', { version: version });
    await follow(world, definition, { settings: settings({ batch: { records: 7 } }) });
    expect(seen).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
  });

  test('passes over offsets that hold nothing', async () => {
    const world = shopWorld();
    world.log.skip(partition(), 3);
    publish(world, 'a', { version: 1 });
    world.log.skip(partition(), 2);
    publish(world, 'b', { version: 1 });
    world.log.skip(partition(), 5);
    const process = await follow(world);
    expect(Object.keys(await rowsOf(world))).toEqual(['a', 'b']);
    expect(partitionStatus(process)?.offset).toBe(12);
    expect((await checkpointOf(world))?.offset).toBe(12);
  });

  test('does nothing when it is started twice, and stops by one promise', async () => {
    const world = shopWorld();
    const process = started(world);
    process.engine.start();
    await caughtUp(world, process);
    expect((await checkpointOf(world))?.epoch).toBe(1);
    expect(process.engine.stop()).toBe(process.engine.stop());
    await stopped(world, process);
  });

  test('gives a handler the commit as the record has it when it tries again, whatever the first try did to it', async () => {
    const world = shopWorld();
    const seen: unknown[] = [];
    const definition = shopWorker(({ state, ref, version }) => {
      seen.push(structuredClone(state));
      Object.assign(state, { status: 'spoilt' });
      if (seen.length === 1) throw new Error('the first try fails');
      return Orders.put(ref.id, { status: 'kept', version });
    });
    publish(world, 'a', { version: 1, status: 'good' });
    await follow(world, definition);
    expect(seen).toEqual([{ status: 'good' }, { status: 'good' }]);
    expect(await rowsOf(world)).toEqual({ a: { status: 'kept', version: 1 } });
  });
});

describe('A checkpoint', () => {
  const shipped = worker({
    context: 'shop',
    subscriptions: [
      projection('OrderProjection', {
        onEvent: into(
          Orders,
          Order.on('order_shipped', ({ ref, version }) => Orders.put(ref.id, { status: 'shipped', version })),
        ),
      }),
    ],
  });

  test('advances over commits that no handler wants', async () => {
    const world = shopWorld();
    for (let version = 1; version <= 5; version += 1) publish(world, 'a', { version: version });
    await follow(world, shipped);
    expect((await checkpointOf(world))?.offset).toBe(5);
    expect(await rowsOf(world)).toEqual({});
  });

  test('that moves over unwanted commits only is saved after the interval, though more of them keep coming', async () => {
    const world = shopWorld();
    const process = started(world, shipped, { settings: settings({ checkpoint: { intervalMs: 1_000 } }) });
    await caughtUp(world, process);
    for (let version = 1; version <= 30; version += 1) {
      publish(world, 'a', { version: version });
      await world.clock.advance(100);
    }
    expect((await checkpointOf(world))?.offset).toBeGreaterThanOrEqual(20);
    await stopped(world, process);
  });

  test('that moves over unwanted commits only is not written before the interval', async () => {
    const world = shopWorld();
    const process = started(world, shipped, { settings: settings({ checkpoint: { intervalMs: 60_000 } }) });
    await caughtUp(world, process);
    publish(world, 'a', { version: 1 });
    await world.clock.advance(59_000);
    expect((await checkpointOf(world))?.offset).toBe(0);
    await world.clock.advance(1_100);
    expect((await checkpointOf(world))?.offset).toBe(1);
    await stopped(world, process);
  });

  test('that moves over unwanted commits only is saved after so many of them', async () => {
    const world = shopWorld();
    const process = started(world, shipped, {
      settings: settings({ checkpoint: { intervalMs: 3_600_000, records: 500 } }),
    });
    await caughtUp(world, process);
    for (let version = 1; version <= 700; version += 1) publish(world, 'a', { version: version });
    await world.clock.advance(10);
    expect((await checkpointOf(world))?.offset).toBeGreaterThanOrEqual(500);
    await stopped(world, process);
  });

  test('is saved on stop, over what nobody wanted', async () => {
    const world = shopWorld();
    const process = started(world, shipped, { settings: settings({ checkpoint: { intervalMs: 3_600_000 } }) });
    publish(world, 'a', { version: 1 });
    await caughtUp(world, process);
    expect((await checkpointOf(world))?.offset).toBe(0);
    await stopped(world, process);
    expect((await checkpointOf(world))?.offset).toBe(1);
  });

  test('is not written while nothing arrives', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1 });
    const process = started(world);
    await caughtUp(world, process);
    const sequence = (await checkpointOf(world))?.sequence;
    await world.clock.advance(60_000);
    expect((await checkpointOf(world))?.sequence).toBe(sequence);
    await stopped(world, process);
  });
});
