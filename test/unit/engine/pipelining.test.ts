import { describe, expect, test } from 'vitest';
import { UnavailableError } from '../../../src/runtime/errors.ts';
import { RecordingStore } from './recording-store.ts';
import {
  caughtUp,
  checkpointOf,
  follow,
  keepRow,
  parkedCommits,
  partitionStatus,
  publish,
  rowsOf,
  settings,
  shopWorker,
  shopWorld,
  started,
  stopped,
} from './shop-world.ts';

const oneByOne = settings({ batch: { records: 1 } });

describe('While a window is on the wire', () => {
  test('the next one is prepared, and no second one is sent', async () => {
    const world = shopWorld();
    const store = new RecordingStore(world, { delayMs: 1_000 });
    const handled: string[] = [];
    const definition = shopWorker((event) => {
      handled.push(event.ref.id);
      return keepRow(event);
    });
    for (const id of ['a', 'b', 'c']) publish(world, id, { version: 1 });
    const process = started(world, definition, { stores: store.stores, settings: oneByOne });
    await world.clock.advance(10);
    expect(handled).toEqual(['a', 'b']);
    expect(store.commits).toHaveLength(1);
    await caughtUp(world, process);
    expect(store.onWireMax).toBe(1);
    expect(store.offsets).toEqual([1, 2, 3]);
    expect(store.commits.map(({ sentAtMs }) => sentAtMs - (store.commits[0]?.sentAtMs ?? 0))).toEqual([
      0, 1_000, 2_000,
    ]);
    await stopped(world, process);
  });

  test('of one partition, those of others are sent as well', async () => {
    const world = shopWorld({ partitions: 3 });
    const store = new RecordingStore(world, { delayMs: 1_000 });
    for (const number of [0, 1, 2]) publish(world, `o${number}`, { version: 1, partition: number });
    const process = started(world, shopWorker(), { stores: store.stores });
    await world.clock.advance(10);
    expect(store.onWireMax).toBe(3);
    await caughtUp(world, process);
    await stopped(world, process);
  });

  test('what arrives meanwhile is gathered into one commit', async () => {
    const world = shopWorld();
    const store = new RecordingStore(world, { delayMs: 1_000 });
    const process = started(world, shopWorker(), { stores: store.stores });
    publish(world, 'a', { version: 1 });
    await world.clock.advance(100);
    for (let number = 1; number <= 8; number += 1) {
      publish(world, `b${number}`, { version: 1 });
      await world.clock.advance(100);
    }
    await caughtUp(world, process);
    expect(store.offsets).toEqual([1, 9]);
    await stopped(world, process);
  });

  test('its commits do not count as handled: caught up is told once they are committed', async () => {
    const world = shopWorld();
    const store = new RecordingStore(world, { delayMs: 1_000 });
    publish(world, 'a', { version: 1 });
    const process = started(world, shopWorker(), { stores: store.stores });
    await world.clock.advance(500);
    expect(partitionStatus(process)?.offset).toBe(0);
    await caughtUp(world, process);
    expect(await rowsOf(world)).toHaveProperty('a');
    expect(partitionStatus(process)?.offset).toBe(1);
    expect(world.clock.monotonicMs()).toBeLessThan(1_100);
    await stopped(world, process);
  });

  test('a stop waits for it, and sends nothing behind it', async () => {
    const world = shopWorld();
    const store = new RecordingStore(world, { delayMs: 1_000 });
    publish(world, 'a', { version: 1 });
    publish(world, 'b', { version: 1 });
    const process = started(world, shopWorker(), { stores: store.stores, settings: oneByOne });
    await world.clock.advance(100);
    await stopped(world, process);
    expect(Object.keys(await rowsOf(world))).toEqual(['a']);
    expect((await checkpointOf(world))?.offset).toBe(1);
    expect(store.commits).toHaveLength(1);
    await follow(world);
    expect(Object.keys(await rowsOf(world))).toEqual(['a', 'b']);
  });
});

describe('A window that is not committed', () => {
  test('discards the one prepared behind it: its commits are handled again, after it', async () => {
    const world = shopWorld({ rowBytesMax: 1_000 });
    const store = new RecordingStore(world, { delayMs: 1_000 });
    const handled: string[] = [];
    const definition = shopWorker((event) => {
      handled.push(`${event.ref.id}@${event.version}`);
      return keepRow(event);
    });
    publish(world, 'a', { version: 1, status: 'x'.repeat(2_000) });
    publish(world, 'a', { version: 2 });
    publish(world, 'b', { version: 1 });
    await follow(world, definition, { stores: store.stores, settings: oneByOne });
    expect(handled).toEqual(['a@1', 'a@2', 'a@1', 'b@1']);
    expect(await parkedCommits(world)).toEqual(['a@1 ROW_TOO_LARGE', 'a@2']);
    expect(await rowsOf(world)).toEqual({ b: { status: 'v1', version: 1 } });
  });

  test('takes back what the discarded one would have parked', async () => {
    const world = shopWorld({ rowBytesMax: 1_000 });
    const store = new RecordingStore(world, { delayMs: 1_000 });
    publish(world, 'big', { version: 1, status: 'x'.repeat(2_000) });
    publish(world, 'a', { version: 1, status: 'poison' });
    publish(world, 'a', { version: 2 });
    const process = await follow(world, shopWorker(), { stores: store.stores, settings: oneByOne });
    expect(await parkedCommits(world)).toEqual(['big@1 ROW_TOO_LARGE', 'a@1 HANDLER_FAILED', 'a@2']);
    expect(partitionStatus(process)?.parked).toBe(3);
  });

  test('because its outcome is unknown is sent again as it was, and what is behind it waits', async () => {
    const world = shopWorld();
    const store = new RecordingStore(world, {
      delayMs: 100,
      instead: (_batch, number) => (number <= 3 ? Promise.reject(new UnavailableError('no answer')) : undefined),
    });
    publish(world, 'a', { version: 1 });
    publish(world, 'b', { version: 1 });
    await follow(world, shopWorker(), { stores: store.stores, settings: oneByOne });
    expect(store.offsets).toEqual([1, 1, 1, 1, 2]);
    expect(new Set(store.commits.slice(0, 4).map(({ batch }) => batch.plan)).size).toBe(1);
  });
});

describe('A window', () => {
  test('grows with the lag, and is bounded', async () => {
    const world = shopWorld();
    const store = new RecordingStore(world);
    for (let number = 0; number < 2_500; number += 1) publish(world, `o${number}`, { version: 1 });
    const process = started(world, shopWorker(), {
      stores: store.stores,
      settings: settings({ batch: { records: 1_200 } }),
    });
    await caughtUp(world, process);
    expect(store.offsets.at(-1)).toBe(2_500);
    expect(new Set(store.offsets)).toContain(1_200);
    const sent = store.commits.length;
    publish(world, 'one', { version: 1 });
    await caughtUp(world, process);
    expect(store.commits).toHaveLength(sent + 1);
    await stopped(world, process);
  });

  test('is bounded by the bytes whose writes it keeps', async () => {
    const world = shopWorld();
    const store = new RecordingStore(world);
    for (let number = 0; number < 10; number += 1) publish(world, `o${number}`, { version: 1 });
    await follow(world, shopWorker(), { stores: store.stores, settings: settings({ batch: { bytes: 2_000 } }) });
    expect(store.commits.length).toBeGreaterThanOrEqual(3);
    expect(Object.keys(await rowsOf(world))).toHaveLength(10);
  });

  test('at the end of the log may wait for more', async () => {
    const world = shopWorld();
    const store = new RecordingStore(world);
    const process = started(world, shopWorker(), {
      stores: store.stores,
      settings: settings({ batch: { waitMs: 200 } }),
    });
    await caughtUp(world, process);
    for (let number = 0; number < 3; number += 1) {
      publish(world, `o${number}`, { version: 1 });
      await world.clock.advance(50);
    }
    expect(store.commits).toHaveLength(0);
    await world.clock.advance(100);
    expect(store.offsets).toEqual([3]);
    await stopped(world, process);
  });
});

describe('A window beyond the bounds of a transaction', () => {
  function lagging(documents: number) {
    const world = shopWorld();
    for (let number = 0; number < 10; number += 1) publish(world, `o${number}`, { version: 1 });
    const transaction = { liveDocuments: documents, behindDocuments: documents };
    return { world, cut: settings({ transaction }) };
  }

  test('is cut into several, and only the last one moves the position', async () => {
    const { world, cut } = lagging(4);
    const store = new RecordingStore(world);
    await follow(world, shopWorker(), { stores: store.stores, settings: cut });
    expect(store.offsets).toEqual([0, 0, 10]);
    expect((await checkpointOf(world))?.offset).toBe(10);
    expect(Object.keys(await rowsOf(world))).toHaveLength(10);
  });

  test('takes more at once while behind than near the end of the log', async () => {
    const world = shopWorld();
    for (let number = 0; number < 1_100; number += 1) publish(world, `o${number}`, { version: 1 });
    const store = new RecordingStore(world);
    const bounds = settings({ batch: { records: 1_000 }, transaction: { liveDocuments: 50, behindDocuments: 400 } });
    await follow(world, shopWorker(), { stores: store.stores, settings: bounds });
    // 1,000 of them behind, then 100 at the end.
    expect(store.offsets).toEqual([0, 0, 1_000, 1_000, 1_100]);
  });

  test('is repeated after a crash between two of them, and that does no harm', async () => {
    const { world, cut } = lagging(4);
    const process = world.process(shopWorker(), { settings: cut });
    let commits = 0;
    process.wire.faults = {
      ...process.wire.faults,
      fate: (operation) => {
        if (operation === 'readModels.commit' && (commits += 1) === 3) process.wire.cut();
        return 'delivered';
      },
    };
    process.engine.start();
    await world.clock.advance(1_000);
    expect((await checkpointOf(world))?.offset).toBe(10);
    await follow(world);
    expect(Object.keys(await rowsOf(world))).toHaveLength(10);
  });

  test('leaves the position where it was if its last one is refused', async () => {
    const world = shopWorld({ rowBytesMax: 1_000 });
    for (let number = 0; number < 8; number += 1) {
      publish(world, `o${number}`, { version: 1, status: number === 7 ? 'x'.repeat(2_000) : 'ok' });
    }
    const store = new RecordingStore(world);
    const transaction = { liveDocuments: 3, behindDocuments: 3 };
    await follow(world, shopWorker(), { stores: store.stores, settings: settings({ transaction }) });
    expect(store.commits.map(({ result }) => result?.kind)).toEqual([
      'committed',
      'committed',
      'refused',
      // The rest of the window again, then the aggregate alone, then its entry.
      'committed',
      'committed',
      'committed',
      'refused',
      'committed',
    ]);
    expect(store.offsets).toEqual([0, 0, 8, 0, 0, 7, 8, 8]);
    expect(await parkedCommits(world)).toEqual(['o7@1 ROW_TOO_LARGE']);
  });
});
