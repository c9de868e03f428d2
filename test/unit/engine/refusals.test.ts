import { describe, expect, test } from 'vitest';
import { into, projection } from '../../../src/projections/projection.ts';
import { readModel } from '../../../src/read-models/read-model.ts';
import { type Worker, worker } from '../../../src/subscriptions/worker.ts';
import type { World } from '../../../src/testing/world/world.ts';
import { RecordingStore } from './recording-store.ts';
import {
  Codes,
  caughtUp,
  follow,
  Order,
  Orders,
  parkedCommits,
  parkedIn,
  partitionStatus,
  publish,
  rowsOf,
  settings,
  shopWorker,
  shopWorld,
  started,
  stopped,
} from './shop-world.ts';

const Slots = readModel<{ order: string }>('slots', { moves: true });

function projecting(...functions: Parameters<typeof projection>[1][string][]): Worker {
  return worker({
    context: 'shop',
    subscriptions: [
      projection('OrderProjection', Object.fromEntries(functions.map((each, place) => [`on${place}`, each]))),
    ],
  });
}

const byCode = projecting(
  into(
    Codes,
    Order.onState(({ ref, state }) => Codes.put(ref.id, { code: state.code ?? '' })),
  ),
);
/** An order holds the slot that its state names, and none without. */
const bySlot = projecting(
  into(
    Slots,
    Order.onState(({ ref, state }) => (state.code === undefined ? [] : Slots.put(state.code, { order: ref.id }))),
  ),
);

describe('A coalesced write that the store refuses', () => {
  test('is taken apart: commits before the failing one stand, and that one is parked as head', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1, code: 'taken' });
    publish(world, 'b', { version: 1, code: 'b1' });
    publish(world, 'b', { version: 2, code: 'b2' });
    publish(world, 'b', { version: 3, code: 'taken' });
    publish(world, 'c', { version: 1, code: 'c1' });
    const process = started(world, byCode);
    await world.clock.advance(500);
    publish(world, 'b', { version: 4, code: 'b4' });
    await world.clock.advance(400);
    expect(await parkedCommits(world)).toEqual(['b@3 ROW_NOT_UNIQUE', 'b@4']);
    expect(await rowsOf(world, 'codes')).toEqual({ a: { code: 'taken' }, b: { code: 'b2' }, c: { code: 'c1' } });
    expect((await world.stores.checkpoints.list())[0]?.offset).toBe(6);
    await stopped(world, process);
  });

  test('for its size parks that aggregate alone, naming row, size and limit', async () => {
    const world = shopWorld({ rowBytesMax: 1_000 });
    for (let number = 0; number < 100; number += 1) publish(world, `o${number}`, { version: 1 });
    publish(world, 'big', { version: 1 });
    publish(world, 'big', { version: 2, status: 'x'.repeat(2_000) });
    publish(world, 'o1', { version: 2 });
    await follow(world);
    const [entry] = await parkedIn(world);
    expect(entry).toMatchObject({ version: 2, failure: { cause: { code: 'ROW_TOO_LARGE' }, isRecoverable: false } });
    expect(entry?.failure?.cause.message).toMatch(/big .*takes 20\d\d bytes; the limit is 1000/);
    const rows = await rowsOf(world);
    expect(Object.keys(rows)).toHaveLength(101);
    expect(rows).toMatchObject({ big: { version: 1 }, o1: { version: 2 } });
  });

  test('of several aggregates at once parks each of them, and nobody else', async () => {
    const world = shopWorld({ rowBytesMax: 1_000 });
    const ids = ['a', 'b', 'c', 'd', 'e'];
    for (const version of [1, 2, 3]) {
      for (const id of ids) {
        const isTooLarge = version === 2 && ['b', 'd'].includes(id);
        publish(world, id, { version, status: isTooLarge ? 'x'.repeat(2_000) : `v${version}` });
      }
    }
    await follow(world, shopWorker(), { settings: settings({ batch: { records: 6 } }) });
    expect(await parkedCommits(world)).toEqual(['b@2 ROW_TOO_LARGE', 'd@2 ROW_TOO_LARGE', 'b@3', 'd@3']);
    const versions = Object.entries(await rowsOf(world)).map(([id, { version }]) => [id, version]);
    expect(Object.fromEntries(versions)).toEqual({ a: 3, b: 1, c: 3, d: 1, e: 3 });
  });
});

describe('A row of another aggregate', () => {
  test('is not touched: the second tenant parks, naming row and owner', async () => {
    const world = shopWorld();
    publish(world, 'O-1', { version: 1, tenantId: 'A', status: 'of A' });
    publish(world, 'O-1', { version: 1, tenantId: 'B', status: 'of B' });
    publish(world, 'O-1', { version: 2, tenantId: 'B', status: 'gone' });
    publish(world, 'O-1', { version: 2, tenantId: 'A', status: 'of A again' });
    const definition = shopWorker(({ ref, version, state }) =>
      state.status === 'gone' ? Orders.remove(ref.id) : Orders.put(ref.id, { status: state.status, version }),
    );
    await follow(world, definition);
    expect(await rowsOf(world)).toEqual({ 'O-1': { status: 'of A again', version: 2 } });
    const entries = await parkedIn(world);
    expect(entries.map(({ ref, version }) => [ref, version])).toEqual([
      ['shop.order/B/O-1', 1],
      ['shop.order/B/O-1', 2],
    ]);
    expect(entries[0]?.failure).toMatchObject({ isRecoverable: false, cause: { code: 'ROW_FOREIGN' } });
    expect(entries[0]?.failure?.cause.message).toContain('Row "O-1" of orders belongs to shop.order/A/O-1');
  });

  test('is its own where the tenant is part of the id', async () => {
    const world = shopWorld();
    publish(world, 'O-1', { version: 1, tenantId: 'A', status: 'of A' });
    publish(world, 'O-1', { version: 1, tenantId: 'B', status: 'of B' });
    await follow(
      world,
      shopWorker(({ ref, version, state }) => Orders.put([ref.tenantId, ref.id], { status: state.status, version })),
    );
    expect(Object.values(await rowsOf(world)).map(({ status }) => status)).toEqual(['of A', 'of B']);
  });
});

describe('What time heals', () => {
  test('a unique value that its holder lets go later is retried after a second, and drains by itself', async () => {
    const world = shopWorld({ partitions: 2 });
    publish(world, 'a', { version: 1, code: 'x' });
    publish(world, 'b', { version: 1, code: 'x' });
    const process = started(world, byCode);
    await world.clock.advance(400);
    publish(world, 'b', { version: 2, code: 'y' });
    await world.clock.advance(100);
    expect(await parkedCommits(world)).toEqual(['b@1 ROW_NOT_UNIQUE', 'b@2']);
    publish(world, 'a', { version: 2, code: 'z' });
    const found = await caughtUp(world, process);
    expect(found.isComplete).toBe(true);
    expect(await parkedIn(world)).toEqual([]);
    expect(await rowsOf(world, 'codes')).toEqual({ a: { code: 'z' }, b: { code: 'y' } });
    publish(world, 'b', { version: 3, code: 'x' });
    await caughtUp(world, process);
    expect(await rowsOf(world, 'codes')).toMatchObject({ b: { code: 'x' } });
    await stopped(world, process);
  });

  test('a row that another aggregate holds is taken over once it is free', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1, code: 's1' });
    publish(world, 'b', { version: 1, code: 's1' });
    const process = started(world, bySlot);
    await world.clock.advance(500);
    expect(await parkedCommits(world)).toEqual(['b@1 ROW_HELD']);
    publish(world, 'a', { version: 2 });
    await caughtUp(world, process);
    expect(await parkedIn(world)).toEqual([]);
    expect(await rowsOf(world, 'slots')).toEqual({ s1: { order: 'b' } });
    await stopped(world, process);
  });

  test('a value that went from hand to hand over partitions read at their own speed is no conflict in the end', async () => {
    const world = shopWorld({ partitions: 2 });
    // In the log `b` had the code first and left it to `a`, which is read before it.
    publish(world, 'a', { version: 1, code: 'x', partition: 1 });
    const process = started(world, byCode);
    await world.clock.advance(100);
    publish(world, 'b', { version: 1, code: 'x' });
    await world.clock.advance(100);
    publish(world, 'b', { version: 2, code: 'y' });
    publish(world, 'b', { version: 3, code: 'z' });
    await world.clock.advance(100);
    expect(await parkedCommits(world)).toEqual(['b@1 ROW_NOT_UNIQUE', 'b@2', 'b@3']);
    await caughtUp(world, process);
    expect(await parkedIn(world)).toEqual([]);
    expect(await rowsOf(world, 'codes')).toEqual({ a: { code: 'x' }, b: { code: 'z' } });
    await stopped(world, process);
  });

  test('what is still refused at its first retry waits longer, with its attempts counted', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1, code: 'x' });
    publish(world, 'b', { version: 1, code: 'x' });
    const process = started(world, byCode);
    await caughtUp(world, process);
    const [entry] = await parkedIn(world);
    expect(entry?.failure).toMatchObject({ attempts: 2, isRecoverable: true });
    const { lastFailedAtMs = 0, nextRetryAtMs = 0, firstFailedAtMs = 0 } = entry?.failure ?? {};
    expect(nextRetryAtMs - lastFailedAtMs).toBe(180_000);
    expect(lastFailedAtMs - firstFailedAtMs).toBeGreaterThanOrEqual(1_000);
    publish(world, 'a', { version: 2, code: 'z' });
    await world.clock.advance(200_000);
    expect(await parkedIn(world)).toEqual([]);
    await stopped(world, process);
  });

  test('is tried at most ten times more, then an operator must act', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1, code: 'x' });
    publish(world, 'b', { version: 1, code: 'x' });
    const process = started(world, byCode);
    await world.clock.runWhile(() => process.engine.status()[0]?.partitions[0]?.parked !== 1);
    // Idle looks of two days are many; the process is restarted after each wait instead.
    await stopped(world, process);
    for (let retry = 1; retry <= 12; retry += 1) {
      world.clock.jump(7 * 3_600_000);
      const again = started(world, byCode);
      await world.clock.advance(100);
      await stopped(world, again);
    }
    const [entry] = await parkedIn(world);
    expect(entry?.failure).toMatchObject({ attempts: 11, nextRetryAtMs: undefined });
  });

  test('an aggregate whose sequence emptied is live again, with no gap against what arrives meanwhile', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1, code: 's1' });
    publish(world, 'b', { version: 1, code: 's1' });
    const process = started(world, bySlot);
    await world.clock.advance(500);
    publish(world, 'a', { version: 2 });
    for (let version = 2; version <= 40; version += 1) {
      publish(world, 'b', { version, code: `s${version}` });
      await world.clock.advance(50);
    }
    await caughtUp(world, process);
    expect(await parkedIn(world)).toEqual([]);
    expect(await rowsOf(world, 'slots')).toEqual({ s40: { order: 'b' } });
    const source = world.stores.tables.sourcesOf({ subscription: 'OrderProjection.on0', generation: 1 });
    expect([...source.values()].map(({ version, missing }) => [version, missing])).toEqual([
      [2, []],
      [40, []],
    ]);
    await stopped(world, process);
  });

  test('a sequence longer than a page of the ledger drains whole and in order', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1, code: 's1' });
    publish(world, 'b', { version: 1, code: 's1' });
    const process = started(world, bySlot);
    await world.clock.advance(400);
    for (let version = 2; version <= 250; version += 1) publish(world, 'b', { version, code: `s${version}` });
    await world.clock.advance(100);
    expect(await parkedIn(world)).toHaveLength(250);
    publish(world, 'a', { version: 2 });
    await caughtUp(world, process);
    expect(await parkedIn(world)).toEqual([]);
    expect(await rowsOf(world, 'slots')).toEqual({ s250: { order: 'b' } });
    await stopped(world, process);
  });

  test('a drain stops at the first new failure, and keeps the rest with the new cause', async () => {
    const world = shopWorld();
    const definition = projecting(
      into(
        Slots,
        Order.onState(({ ref, state }) => {
          if (state.status === 'poison') throw new Error('poison');
          return state.code === undefined ? [] : Slots.put(state.code, { order: ref.id });
        }),
      ),
    );
    publish(world, 'a', { version: 1, code: 's1' });
    publish(world, 'b', { version: 1, code: 's1' });
    const process = started(world, definition);
    await world.clock.advance(400);
    publish(world, 'b', { version: 2, status: 'poison' });
    publish(world, 'b', { version: 3, code: 's3' });
    await world.clock.advance(100);
    publish(world, 'a', { version: 2 });
    await caughtUp(world, process);
    expect(await parkedCommits(world)).toEqual(['b@2 HANDLER_FAILED', 'b@3']);
    expect(await rowsOf(world, 'slots')).toEqual({ s1: { order: 'b' } });
    await stopped(world, process);
  });
});

describe('At the bound of parked commits, a partition', () => {
  const bounded = settings({ parked: { perAggregate: 2 } });

  /** Partition 0 stops behind `b`, which wants the code of `a`; that one stands in partition 1 and can let go of it. */
  function stuckWorld(): World {
    const world = shopWorld({ partitions: 2 });
    publish(world, 'a', { version: 1, code: 'taken', partition: 1 });
    return world;
  }

  async function publishStuck(world: World): Promise<void> {
    await world.clock.advance(500);
    for (const version of [1, 2, 3]) publish(world, 'b', { version, code: 'taken' });
    publish(world, 'c', { version: 1, code: 'c1' });
  }

  test('tries its heads when they are due, and goes on once there is room', async () => {
    const world = stuckWorld();
    const process = started(world, byCode, { settings: bounded });
    await publishStuck(world);
    await world.clock.advance(10_000);
    expect(partitionStatus(process)).toMatchObject({ state: 'stopped', offset: 2, parked: 2 });
    expect(partitionStatus(process)?.reason).toContain('parked.perAggregate; goes on once a retry makes room');
    publish(world, 'a', { version: 2, code: 'free', partition: 1 });
    await world.clock.advance(400_000);
    expect(await parkedCommits(world)).toEqual([]);
    expect(await rowsOf(world, 'codes')).toEqual({ a: { code: 'free' }, b: { code: 'taken' }, c: { code: 'c1' } });
    expect(partitionStatus(process)?.state).toBe('following');
    await stopped(world, process);
  });

  test('does so after a restart as well, and can be stopped while it waits', async () => {
    const world = stuckWorld();
    const first = started(world, byCode, { settings: bounded });
    await publishStuck(world);
    await world.clock.advance(10_000);
    await stopped(world, first);
    publish(world, 'a', { version: 2, code: 'free', partition: 1 });
    const second = started(world, byCode, { settings: bounded });
    await world.clock.advance(400_000);
    expect(await parkedCommits(world)).toEqual([]);
    expect(Object.keys(await rowsOf(world, 'codes'))).toEqual(['a', 'b', 'c']);
    await stopped(world, second);
  });

  test('per subscription parks no refused commit beyond it either', async () => {
    const world = shopWorld();
    for (const id of ['a', 'b', 'c', 'd']) publish(world, id, { version: 1, code: 'taken' });
    const process = started(world, byCode, { settings: settings({ parked: { perSubscription: 2 } }) });
    await world.clock.advance(10_000);
    expect(await parkedCommits(world)).toEqual(['b@1 ROW_NOT_UNIQUE', 'c@1 ROW_NOT_UNIQUE']);
    expect(partitionStatus(process)).toMatchObject({ state: 'stopped', offset: 3 });
    expect(partitionStatus(process)?.reason).toContain('parked.perSubscription');
    publish(world, 'a', { version: 2, code: 'free' });
    await stopped(world, process);
  });
});

describe('A sequence that is drained', () => {
  test('leaves turns to the other records of its partition', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1, code: 'taken' });
    for (let version = 1; version <= 300; version += 1) {
      publish(world, 'b', { version, code: 'taken' });
    }
    const store = new RecordingStore(world, { delayMs: 10 });
    const process = started(world, byCode, { stores: store.stores });
    await world.clock.advance(900);
    publish(world, 'a', { version: 2, code: 'free' });
    await world.clock.advance(400);
    publish(world, 'c', { version: 1, code: 'c1' });
    await world.clock.advance(1_000);
    expect(await rowsOf(world, 'codes')).toMatchObject({ c: { code: 'c1' } });
    expect((await parkedCommits(world)).length).toBeGreaterThan(50);
    await world.clock.advance(10_000);
    expect(await parkedCommits(world)).toEqual([]);
    expect(await rowsOf(world, 'codes')).toMatchObject({ b: { code: 'taken' } });
    await stopped(world, process);
  });
});
