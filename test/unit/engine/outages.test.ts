import { describe, expect, test } from 'vitest';
import type { Faults, Operation } from '../../../src/testing/world/faults.ts';
import { noFaults } from '../../../src/testing/world/faults.ts';
import {
  caughtUp,
  checkpointOf,
  follow,
  parkedCommits,
  parkedIn,
  partitionStatus,
  publish,
  rowsOf,
  shopWorker,
  shopWorld,
  started,
  stopped,
} from './shop-world.ts';

describe('While the store is down', () => {
  test('a partition waits, parks nothing, and recovers without a restart', async () => {
    const world = shopWorld();
    const process = started(world);
    await caughtUp(world, process);
    world.down.add('store');
    publish(world, 'a', { version: 1 });
    publish(world, 'b', { version: 1, status: 'poison' });
    await world.clock.advance(300_000);
    expect(partitionStatus(process)).toMatchObject({ state: 'waiting', offset: 0 });
    expect(partitionStatus(process)?.reason).toContain('readModels.commit');
    world.down.delete('store');
    expect(await parkedIn(world)).toEqual([]);
    const found = await caughtUp(world, process);
    expect(found.isComplete).toBe(true);
    expect(partitionStatus(process)?.state).toBe('following');
    expect(Object.keys(await rowsOf(world))).toEqual(['a']);
    expect(await parkedCommits(world)).toEqual(['b@1 HANDLER_FAILED']);
    expect((await checkpointOf(world))?.epoch).toBe(1);
    await stopped(world, process);
  });

  test('a head that cannot be parked holds the checkpoint', async () => {
    const world = shopWorld();
    const process = started(world);
    await caughtUp(world, process);
    world.down.add('store');
    publish(world, 'a', { version: 1, status: 'poison' });
    await world.clock.advance(30_000);
    world.down.delete('store');
    expect((await checkpointOf(world))?.offset).toBe(0);
    await caughtUp(world, process);
    const [entry] = await parkedIn(world);
    expect(entry?.failure?.attempts).toBe(1);
    expect((await checkpointOf(world))?.offset).toBe(1);
    await stopped(world, process);
  });

  test('a stop returns promptly', async () => {
    const world = shopWorld();
    const process = started(world);
    await caughtUp(world, process);
    world.down.add('store');
    publish(world, 'a', { version: 1 });
    await world.clock.advance(60_000);
    const from = world.clock.monotonicMs();
    await stopped(world, process);
    expect(world.clock.monotonicMs() - from).toBeLessThan(100);
    world.down.delete('store');
    await follow(world);
    expect(Object.keys(await rowsOf(world))).toEqual(['a']);
  });

  test('from the beginning, a subscription starts once it is back', async () => {
    const world = shopWorld();
    world.down.add('store');
    publish(world, 'a', { version: 1 });
    const process = started(world);
    await world.clock.advance(60_000);
    world.down.delete('store');
    await caughtUp(world, process);
    expect(Object.keys(await rowsOf(world))).toEqual(['a']);
    await stopped(world, process);
  });

  test('a stop that comes before the start was possible returns promptly too', async () => {
    const world = shopWorld();
    world.down.add('store');
    const process = started(world);
    await world.clock.advance(60_000);
    const from = world.clock.monotonicMs();
    await stopped(world, process);
    expect(world.clock.monotonicMs() - from).toBeLessThan(100);
  });

  test('tries become rarer, but never further apart than five seconds', async () => {
    const world = shopWorld();
    const process = started(world);
    await caughtUp(world, process);
    const triedAtMs: number[] = [];
    process.wire.faults = {
      ...noFaults,
      fate: (operation) => {
        if (operation !== 'readModels.commit') return 'delivered';
        triedAtMs.push(world.clock.monotonicMs());
        return 'request lost';
      },
    };
    publish(world, 'a', { version: 1 });
    await world.clock.advance(600_000);
    const pauses = triedAtMs.slice(1).map((atMs, place) => atMs - (triedAtMs[place] ?? 0));
    expect(Math.max(...pauses)).toBeLessThanOrEqual(5_000);
    expect(Math.max(...pauses.slice(0, 2))).toBeLessThanOrEqual(200);
    expect(triedAtMs.length).toBeLessThan(600);
    await stopped(world, process);
  });
});

describe('While the log is down', () => {
  test('a partition waits, and goes on by itself', async () => {
    const world = shopWorld();
    const process = started(world);
    await caughtUp(world, process);
    world.down.add('log');
    publish(world, 'a', { version: 1 });
    await world.clock.advance(60_000);
    expect(partitionStatus(process)?.state).toBe('waiting');
    world.down.delete('log');
    const found = await caughtUp(world, process);
    expect(found.isComplete).toBe(true);
    expect(Object.keys(await rowsOf(world))).toEqual(['a']);
    await stopped(world, process);
  });

  test('caught up waits for it, and answers on abort', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1 });
    world.down.add('log');
    const process = started(world);
    const asking = new AbortController();
    const answer = process.engine.caughtUp(asking.signal);
    await world.clock.advance(60_000);
    asking.abort();
    expect((await world.clock.runUntil(answer)).isComplete).toBe(false);
    world.down.delete('log');
    expect((await caughtUp(world, process)).isComplete).toBe(true);
    await stopped(world, process);
  });
});

describe('An answer that is lost', () => {
  function losing(operation: Operation, fate: 'reply lost' | 'request lost' | 'late'): Faults {
    let isLost = false;
    return {
      ...noFaults,
      lateMs: () => 40,
      fate: (each) => {
        if (isLost || each !== operation) return 'delivered';
        isLost = true;
        return fate;
      },
    };
  }

  test.each(['reply lost', 'request lost', 'late'] as const)(
    'to a commit (%s) neither repeats nor drops its effect, and the epoch stays',
    async (fate) => {
      const world = shopWorld();
      publish(world, 'a', { version: 1 });
      publish(world, 'a', { version: 2, status: 'poison' });
      publish(world, 'b', { version: 1 });
      const process = await follow(world, shopWorker(), { faults: losing('readModels.commit', fate) });
      expect(await checkpointOf(world)).toMatchObject({ offset: 3, epoch: 1, sequence: 1 });
      expect(Object.keys(await rowsOf(world))).toEqual(['a', 'b']);
      expect(await parkedCommits(world)).toEqual(['a@2 HANDLER_FAILED']);
      expect(process.failures).toEqual([]);
    },
  );

  test.each([
    'checkpoints.claim',
    'checkpoints.initialise',
    'ledger.membership',
    'ledger.count',
    'readModels.prepare',
    'log.describe',
    'log.pull',
  ] as const)('to %s does no harm', async (operation) => {
    for (const fate of ['reply lost', 'request lost', 'late'] as const) {
      const world = shopWorld();
      publish(world, 'a', { version: 1 });
      publish(world, 'a', { version: 2, status: 'poison' });
      const process = started(world, shopWorker(), { faults: losing(operation, fate) });
      await caughtUp(world, process);
      await world.clock.advance(5_000);
      publish(world, 'b', { version: 1 });
      const found = await caughtUp(world, process);
      await stopped(world, process);
      expect(found.isComplete).toBe(true);
      expect(Object.keys(await rowsOf(world))).toEqual(['a', 'b']);
      expect(await parkedCommits(world)).toEqual(['a@2 HANDLER_FAILED']);
    }
  });
});
