import { describe, expect, test } from 'vitest';
import { partitionKey } from '../../../src/log/position.ts';
import type { MemoryLogSession } from '../../../src/testing/world/memory-log-session.ts';
import type { World } from '../../../src/testing/world/world.ts';
import { RecordingStore } from './recording-store.ts';
import {
  caughtUp,
  checkpointOf,
  follow,
  keepRow,
  parkedCommits,
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

function sessionOf(world: World, place: number): MemoryLogSession {
  const session = world.log.sessions[place];
  if (session === undefined) throw new Error(`There is no session ${place}.`);
  return session;
}

describe('A second owner of a partition', () => {
  test('fences the first, which writes nothing more under its old epoch', async () => {
    const world = shopWorld();
    const store = new RecordingStore(world, { delayMs: 1_000 });
    publish(world, 'a', { version: 1, status: 'by the first' });
    const first = started(world, shopWorker(), { name: 'first', stores: store.stores });
    await world.clock.advance(500);
    const second = started(world, shopWorker(), { name: 'second' });
    await world.clock.advance(400);
    expect((await checkpointOf(world))?.epoch).toBe(2);
    await world.clock.advance(200);
    expect(store.commits[0]?.result?.kind).toBe('fenced');
    await stopped(world, first);
    await stopped(world, second);
    expect(await rowsOf(world)).toEqual({ a: { status: 'by the first', version: 1 } });
  });

  test('and the first, still assigned, claims again and goes on from the stored checkpoint', async () => {
    const world = shopWorld();
    const seen: number[] = [];
    const first = started(
      world,
      shopWorker((event) => {
        seen.push(event.version);
        return keepRow(event);
      }),
    );
    publish(world, 'a', { version: 1 });
    await caughtUp(world, first);
    await world.stores.checkpoints.claim(scope, { ...partition(), lowIfAdded: 0 }, 'somebody else');
    publish(world, 'a', { version: 2 });
    await world.clock.runWhile(() => partitionStatus(first)?.state !== 'fenced');
    const found = await caughtUp(world, first);
    expect(found.isComplete).toBe(true);
    expect(await checkpointOf(world)).toMatchObject({ epoch: 3, offset: 2 });
    expect(seen).toEqual([1, 2, 2]);
    await stopped(world, first);
  });

  test('that stays makes both slow, but not wrong, and progress resumes by itself once one is gone', async () => {
    const world = shopWorld();
    const first = started(world, shopWorker(), { name: 'first' });
    const second = started(world, shopWorker(), { name: 'second' });
    for (let version = 1; version <= 40; version += 1) {
      publish(world, 'a', { version });
      publish(world, 'b', { version, status: version === 20 ? 'poison' : 'ok' });
      await world.clock.advance(100);
    }
    await stopped(world, first);
    const found = await caughtUp(world, second);
    expect(found.isComplete).toBe(true);
    expect(await rowsOf(world)).toEqual({ a: { status: 'v40', version: 40 }, b: { status: 'ok', version: 19 } });
    expect(await parkedCommits(world)).toHaveLength(21);
    expect([...first.failures, ...second.failures]).toEqual([]);
    await stopped(world, second);
  });
});

describe('A write of an owner that is gone', () => {
  test('changes nothing when it arrives after the next one claimed', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1 });
    const first = world.process(shopWorker(), { name: 'first' });
    first.wire.faults = {
      ...first.wire.faults,
      outlivesSender: () => true,
      delayMs: (operation) => (operation === 'readModels.commit' ? 5_000 : 0),
    };
    first.engine.start();
    await world.clock.advance(1_000);
    first.wire.cut();
    publish(world, 'a', { version: 2, status: 'newest' });
    await follow(world, shopWorker(), { name: 'second' });
    const before = await checkpointOf(world);
    await world.clock.advance(10_000);
    expect(await checkpointOf(world)).toEqual(before);
    expect(await rowsOf(world)).toEqual({ a: { status: 'newest', version: 2 } });
  });

  test('that arrives before the next one claims is seen by it', async () => {
    const world = shopWorld();
    const seen: number[] = [];
    publish(world, 'a', { version: 1 });
    const first = world.process(shopWorker(), { name: 'first' });
    first.wire.faults = {
      ...first.wire.faults,
      outlivesSender: () => true,
      delayMs: (operation) => (operation === 'readModels.commit' ? 500 : 0),
    };
    first.engine.start();
    await world.clock.advance(100);
    first.wire.cut();
    await world.clock.advance(1_000);
    const definition = shopWorker((event) => {
      seen.push(event.version);
      return keepRow(event);
    });
    publish(world, 'a', { version: 2 });
    await follow(world, definition, { name: 'second' });
    expect(seen).toEqual([2]);
  });
});

describe('A crash', () => {
  test('between effect and checkpoint cannot be: both are there, or neither', async () => {
    for (let cutAt = 1; cutAt <= 8; cutAt += 1) {
      const world = shopWorld();
      publish(world, 'a', { version: 1 });
      publish(world, 'a', { version: 2, status: 'poison' });
      const process = world.process(shopWorker());
      let calls = 0;
      process.wire.faults = {
        ...process.wire.faults,
        fate: () => {
          calls += 1;
          if (calls === cutAt) process.wire.cut();
          return 'delivered';
        },
      };
      process.engine.start();
      await world.clock.advance(1_000);
      const offset = (await checkpointOf(world))?.offset ?? 0;
      expect(Object.keys(await rowsOf(world))).toEqual(offset === 0 ? [] : ['a']);
      expect(await parkedCommits(world)).toEqual(offset === 0 ? [] : ['a@2 HANDLER_FAILED']);
      await follow(world);
      expect(await parkedCommits(world)).toEqual(['a@2 HANDLER_FAILED']);
    }
  });
});

describe('A partition that is lost', () => {
  test('takes no further record once the loss is known, and is picked up elsewhere from its checkpoint', async () => {
    const world = shopWorld({ assigning: 'by hand' });
    const first = started(world, shopWorker(), { name: 'first' });
    await world.clock.advance(10);
    sessionOf(world, 0).assign({ assigned: [partition()], lost: [] });
    publish(world, 'a', { version: 1 });
    await caughtUp(world, first);
    sessionOf(world, 0).assign({ assigned: [], lost: [partition()] });
    await world.clock.advance(10);
    expect(first.engine.status()[0]?.partitions).toEqual([]);
    publish(world, 'a', { version: 2 });
    await world.clock.advance(10_000);
    expect((await checkpointOf(world))?.offset).toBe(1);
    const second = started(world, shopWorker(), { name: 'second' });
    await world.clock.advance(10);
    sessionOf(world, 1).assign({ assigned: [partition()], lost: [] });
    await caughtUp(world, second);
    expect(await rowsOf(world)).toEqual({ a: { status: 'v2', version: 2 } });
    await stopped(world, first);
    await stopped(world, second);
  });

  test('and comes back to the same process is a new residency: nothing stale swallows a fresh record', async () => {
    const world = shopWorld({ assigning: 'by hand' });
    const store = new RecordingStore(world, { delayMs: 300 });
    const process = started(world, shopWorker(), {
      stores: store.stores,
      settings: settings({ batch: { records: 1 } }),
    });
    await world.clock.advance(10);
    for (let version = 1; version <= 30; version += 1) {
      publish(world, 'a', { version });
      if (version % 3 === 1) sessionOf(world, 0).assign({ assigned: [partition()], lost: [] });
      if (version % 3 === 0) sessionOf(world, 0).assign({ assigned: [], lost: [partition()] });
      await world.clock.advance(70);
    }
    sessionOf(world, 0).assign({ assigned: [partition()], lost: [] });
    await world.clock.advance(10);
    await caughtUp(world, process);
    expect(await rowsOf(world)).toEqual({ a: { status: 'v30', version: 30 } });
    expect(process.engine.status()[0]?.partitions.map(partitionKey)).toEqual([partitionKey(partition())]);
    expect(process.failures).toEqual([]);
    await stopped(world, process);
  });
});

test('A partition whose claim is refused is stopped, with the reason', async () => {
  const world = shopWorld();
  publish(world, 'a', { version: 1 });
  const { checkpoints } = world.stores;
  const process = started(world, shopWorker(), {
    stores: {
      ...world.stores,
      checkpoints: {
        initialisation: (own, topic) => checkpoints.initialisation(own, topic),
        initialise: (own, starts) => checkpoints.initialise(own, starts),
        claim: async () => ({ kind: 'refused', reason: 'paused' }),
        save: (save) => checkpoints.save(save),
        read: (own, where) => checkpoints.read(own, where),
        reset: (reset) => checkpoints.reset(reset),
        drop: (own) => checkpoints.drop(own),
        list: () => checkpoints.list(),
      },
    },
  });
  const found = await caughtUp(world, process);
  expect(found.isComplete).toBe(false);
  expect(partitionStatus(process)).toMatchObject({ state: 'stopped', reason: 'the claim was refused: paused' });
  expect(await rowsOf(world)).toEqual({});
  await stopped(world, process);
});

test('A reset fences the live owner, which starts over from the new position', async () => {
  const world = shopWorld();
  const seen: number[] = [];
  const process = started(
    world,
    shopWorker((event) => {
      seen.push(event.version);
      return keepRow(event);
    }),
  );
  for (const version of [1, 2]) publish(world, 'a', { version });
  await caughtUp(world, process);
  await world.stores.checkpoints.reset({ ...partition(), scope, offset: 0, who: 'op', why: 'again' });
  publish(world, 'a', { version: 3 });
  await world.clock.advance(5_000);
  await caughtUp(world, process);
  expect(seen).toEqual([1, 2, 3, 1, 2, 3]);
  expect(await rowsOf(world)).toEqual({ a: { status: 'v3', version: 3 } });
  await stopped(world, process);
});
