import { describe, expect, test } from 'vitest';
import type { World } from '../../../src/testing/world/world.ts';
import { RecordingStore } from './recording-store.ts';
import {
  Codes,
  caughtUp,
  checkpointOf,
  follow,
  keepRow,
  Order,
  parkedCommits,
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

/** Gives the topic one more partition, and this worker the new one. */
function grow(world: World): void {
  world.log.createTopic(Order.topic, 2);
  world.log.sessions[0]?.assign({ assigned: [partition(1)], lost: [] });
}

describe('A partition that is added', () => {
  test('starts from its beginning once the older ones have passed the ends that they had then', async () => {
    const world = shopWorld();
    const seen: string[] = [];
    const definition = shopWorker((event) => {
      seen.push(`${event.ref.id}@${event.version}`);
      return keepRow(event);
    });
    await follow(world, definition);
    const store = new RecordingStore(world, { delayMs: 2_000 });
    for (let version = 1; version <= 4; version += 1) publish(world, 'a', { version });
    const process = started(world, definition, { stores: store.stores, settings: settings({ batch: { records: 1 } }) });
    world.log.createTopic(Order.topic, 2);
    publish(world, 'a', { version: 5, partition: 1 });
    world.log.sessions[0]?.assign({ assigned: [partition(1)], lost: [] });
    await world.clock.advance(3_000);
    expect(partitionStatus(process, 1)).toMatchObject({ state: 'waiting', reason: 'waits for p0' });
    // What comes to the older partition from now on is not waited for.
    publish(world, 'late', { version: 1 });
    const found = await caughtUp(world, process);
    expect(found.isComplete).toBe(true);
    expect(seen.filter((commit) => commit.startsWith('a'))).toEqual(['a@1', 'a@2', 'a@3', 'a@4', 'a@5']);
    expect(await checkpointOf(world, 1)).toMatchObject({ offset: 1, epoch: 1 });
    await stopped(world, process);
  });

  test('waits for an older one that is stopped, also after a restart, until that one passes', async () => {
    const world = shopWorld();
    await follow(world);
    publish(world, 'a', { version: 1 });
    publish(world, 'a', { version: 2 });
    world.log.expire(partition(), 1);
    world.log.createTopic(Order.topic, 2);
    publish(world, 'b', { version: 1, partition: 1 });
    for (let restarts = 0; restarts < 2; restarts += 1) {
      const process = started(world);
      await world.clock.advance(10_000);
      expect(partitionStatus(process, 0)?.state).toBe('gap');
      expect(partitionStatus(process, 1)).toMatchObject({ state: 'waiting', reason: 'waits for p0' });
      await stopped(world, process);
    }
    expect(await checkpointOf(world, 1)).toBeUndefined();
    const scope = { subscription: 'OrderProjection.onEvent', generation: 1 };
    await world.stores.checkpoints.reset({ ...partition(), scope, offset: 1, who: 'operator', why: 'gap accepted' });
    await follow(world);
    expect(await rowsOf(world)).toEqual({ a: { status: 'v2', version: 2 }, b: { status: 'v1', version: 1 } });
  });

  test('of a topic that did not exist at the start waits for nobody', async () => {
    const world = shopWorld({ partitions: 0 });
    const process = started(world);
    await caughtUp(world, process);
    world.log.createTopic(Order.topic, 2);
    publish(world, 'a', { version: 1 });
    publish(world, 'b', { version: 1, partition: 1 });
    world.log.sessions[0]?.assign({ assigned: [partition(1), partition(0)], lost: [] });
    await world.clock.advance(500);
    expect(Object.keys(await rowsOf(world)).toSorted()).toEqual(['a', 'b']);
    await stopped(world, process);
  });

  test('holds back the commits of an aggregate that is parked in an older one, until that one is through', async () => {
    const seen: string[] = [];
    const definition = shopWorker(({ ref, state, version }) => {
      seen.push(`${ref.id}@${version}`);
      return Codes.put(ref.id, { code: state.code ?? '' });
    }, Codes);
    const world = shopWorld();
    publish(world, 'holder', { version: 1, code: 'x' });
    publish(world, 'a', { version: 1, code: 'x' });
    const process = started(world, definition);
    await caughtUp(world, process);
    expect(await parkedCommits(world)).toEqual(['a@1 ROW_NOT_UNIQUE']);
    grow(world);
    publish(world, 'a', { version: 2, code: 'y', partition: 1 });
    publish(world, 'other', { version: 1, code: 'z', partition: 1 });
    const found = await caughtUp(world, process);
    expect(found.isComplete).toBe(true);
    expect(await parkedCommits(world)).toEqual(['a@1 ROW_NOT_UNIQUE', 'a@2']);
    expect(seen).not.toContain('a@2');
    publish(world, 'holder', { version: 2, code: 'given up' });
    await world.clock.advance(3_600_000);
    expect(await parkedCommits(world)).toEqual([]);
    expect(await rowsOf(world, 'codes')).toMatchObject({ a: { code: 'y' }, other: { code: 'z' } });
    expect(seen.indexOf('a@2')).toBeGreaterThan(seen.lastIndexOf('a@1'));
    // From now on it is live again.
    publish(world, 'a', { version: 3, code: 'w', partition: 1 });
    await caughtUp(world, process);
    expect(await parkedCommits(world)).toEqual([]);
    expect(await rowsOf(world, 'codes')).toMatchObject({ a: { code: 'w' } });
    await stopped(world, process);
  });
});

test('A partition that comes to be owned while its sequence is parked in both is drained by each owner for its own part', async () => {
  const definition = shopWorker(({ ref, state }) => Codes.put(ref.id, { code: state.code ?? '' }), Codes);
  const world = shopWorld({ partitions: 2 });
  publish(world, 'holder', { version: 1, code: 'x' });
  publish(world, 'a', { version: 1, code: 'x' });
  publish(world, 'a', { version: 2, code: 'x', partition: 1 });
  const process = started(world, definition);
  await world.clock.advance(10_000);
  publish(world, 'holder', { version: 2, code: 'given up' });
  await world.clock.advance(3_600_000);
  expect(await parkedCommits(world)).toEqual([]);
  expect(await rowsOf(world, 'codes')).toMatchObject({ a: { code: 'x' } });
  await stopped(world, process);
  expect(process.failures).toEqual([]);
});
