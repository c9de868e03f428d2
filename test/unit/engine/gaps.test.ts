import { describe, expect, test } from 'vitest';
import {
  caughtUp,
  checkpointOf,
  follow,
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

describe('A position that the log does not hold', () => {
  test('below its low stops the partition as a gap, and others go on', async () => {
    const world = shopWorld({ partitions: 2 });
    publish(world, 'a', { version: 1 });
    await follow(world);
    publish(world, 'a', { version: 2 });
    publish(world, 'a', { version: 3 });
    world.log.expire(partition(), 2);
    publish(world, 'b', { version: 1, partition: 1 });
    const process = started(world);
    const found = await caughtUp(world, process);
    expect(found.isComplete).toBe(false);
    expect(partitionStatus(process)).toMatchObject({ state: 'gap', offset: 1 });
    expect(partitionStatus(process)?.reason).toContain('goes from 2 to 3');
    publish(world, 'b', { version: 2, partition: 1 });
    await world.clock.advance(3_600_000 / 10);
    expect(await rowsOf(world)).toEqual({ a: { status: 'v1', version: 1 }, b: { status: 'v2', version: 2 } });
    expect((await checkpointOf(world))?.offset).toBe(1);
    await stopped(world, process);
  });

  test('above its end stops the partition as well: the log was truncated or is another one', async () => {
    const world = shopWorld();
    for (const version of [1, 2, 3]) publish(world, 'a', { version });
    await follow(world);
    world.log.truncate(partition(), 1);
    publish(world, 'b', { version: 1 });
    const process = started(world);
    const found = await caughtUp(world, process);
    expect(found.isComplete).toBe(false);
    expect(partitionStatus(process)).toMatchObject({ state: 'gap', offset: 3 });
    expect(Object.keys(await rowsOf(world))).toEqual(['a']);
    await stopped(world, process);
  });

  test('is met while following, after everything before it was committed', async () => {
    const world = shopWorld();
    const process = started(world, shopWorker(), { settings: settings({ batch: { waitMs: 500 } }) });
    await caughtUp(world, process);
    publish(world, 'a', { version: 1 });
    await world.clock.advance(100);
    // Read, but not committed yet: the window waits for more.
    expect(await rowsOf(world)).toEqual({});
    world.log.skip(partition(), 5);
    world.log.expire(partition(), 6);
    // Whoever went on at the log's low would take this one.
    publish(world, 'b', { version: 1 });
    await world.clock.advance(100_000);
    expect(partitionStatus(process)).toMatchObject({ state: 'gap', offset: 1 });
    expect(await rowsOf(world)).toEqual({ a: { status: 'v1', version: 1 } });
    expect((await checkpointOf(world))?.offset).toBe(1);
    await stopped(world, process);
  });

  test('is not made up for by waiting: the state stays until somebody acts', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1 });
    publish(world, 'a', { version: 2 });
    await follow(world);
    world.log.truncate(partition(), 0);
    const process = started(world);
    await caughtUp(world, process);
    publish(world, 'a', { version: 1 });
    publish(world, 'a', { version: 2 });
    publish(world, 'a', { version: 3 });
    await world.clock.advance(3_600_000 / 10);
    expect(partitionStatus(process)?.state).toBe('gap');
    expect(await rowsOf(world)).toEqual({ a: { status: 'v2', version: 2 } });
    await stopped(world, process);
  });
});

test('A log of another identity stops its partitions before a record is taken', async () => {
  const world = shopWorld();
  publish(world, 'a', { version: 1 });
  await follow(world);
  world.log.recreate();
  publish(world, 'b', { version: 1 });
  const process = started(world);
  const found = await caughtUp(world, process);
  expect(found.isComplete).toBe(false);
  expect(partitionStatus(process)?.state).toBe('stopped');
  expect(partitionStatus(process)?.reason).toContain('is another log');
  expect(Object.keys(await rowsOf(world))).toEqual(['a']);
  await stopped(world, process);
});
