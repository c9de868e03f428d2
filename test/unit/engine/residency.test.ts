import { describe, expect, test } from 'vitest';
import { TidemarkError, UnavailableError } from '../../../src/runtime/errors.ts';
import type { Stores } from '../../../src/subscriptions/stores.ts';
import type { World } from '../../../src/testing/world/world.ts';
import { RecordingStore } from './recording-store.ts';
import {
  caughtUp,
  checkpointOf,
  keepRow,
  partition,
  partitionStatus,
  publish,
  rowsOf,
  scope,
  shopWorker,
  shopWorld,
  started,
  stopped,
} from './shop-world.ts';

class NotAllowedError extends TidemarkError {
  readonly code = 'NOT_ALLOWED';
}

type Refusing = { isRefusing: boolean };

/** The world's stores, where what is asked about partition 0 may be refused for good. */
function refusing(world: World, operation: 'claim' | 'membership' | 'describe', on: Refusing): Stores {
  const { log, checkpoints, ledger } = world.stores;
  const refuse = (asked: string, number: number | undefined): void => {
    if (on.isRefusing && asked === operation && number === 0) throw new NotAllowedError(`${asked} is not allowed`);
  };
  return {
    ...world.stores,
    log: {
      describe: async (topic, partitions) => {
        refuse('describe', partitions?.[0]);
        return log.describe(topic, partitions);
      },
      offsetsAt: (topic, instantMs) => log.offsetsAt(topic, instantMs),
      open: (subscription, topics) => log.open(subscription, topics),
      readAt: (position) => log.readAt(position),
      mirror: (subscription, position) => log.mirror(subscription, position),
    },
    checkpoints: {
      initialisation: (of, topic) => checkpoints.initialisation(of, topic),
      initialise: (of, starts) => checkpoints.initialise(of, starts),
      claim: async (of, place, owner) => {
        refuse('claim', place.partition);
        return checkpoints.claim(of, place, owner);
      },
      save: (save) => checkpoints.save(save),
      read: (of, place) => checkpoints.read(of, place),
      reset: (reset) => checkpoints.reset(reset),
      drop: (of) => checkpoints.drop(of),
      list: () => checkpoints.list(),
    },
    ledger: {
      membership: async (of, place) => {
        refuse('membership', place.partition);
        return ledger.membership(of, place);
      },
      elsewhere: (of, place) => ledger.elsewhere(of, place),
      entries: (of, sequence, page) => ledger.entries(of, sequence, page),
      entryAt: (of, position) => ledger.entryAt(of, position),
      list: (filter, limit) => ledger.list(filter, limit),
      count: (of) => ledger.count(of),
    },
  };
}

describe('What is refused for good while a partition is taken over', () => {
  test.each(['claim', 'membership', 'describe'] as const)(
    '(%s) stops that partition alone, names the reason and is tried again in time',
    async (operation) => {
      const world = shopWorld({ partitions: 2 });
      const on = { isRefusing: true };
      publish(world, 'a', { version: 1 });
      publish(world, 'b', { version: 1, partition: 1 });
      const process = started(world, shopWorker(), { stores: refusing(world, operation, on) });
      const found = await caughtUp(world, process);
      expect(found.isComplete).toBe(false);
      expect(process.failures).toEqual([]);
      expect(partitionStatus(process)).toMatchObject({ state: 'stopped', reason: `${operation} is not allowed` });
      expect(Object.keys(await rowsOf(world))).toEqual(['b']);
      on.isRefusing = false;
      await world.clock.advance(60_000);
      await world.stores.checkpoints.reset({ ...partition(), scope, offset: 0, who: 'op', why: 'rights were given' });
      await world.clock.advance(60_000);
      expect(Object.keys(await rowsOf(world))).toEqual(['a', 'b']);
      expect(partitionStatus(process)).toMatchObject({ state: 'following', reason: undefined });
      await stopped(world, process);
    },
  );
});

describe('A reset', () => {
  test('is noticed by an owner that has nothing to write', async () => {
    const world = shopWorld();
    let calls = 0;
    const definition = shopWorker((event) => {
      calls += 1;
      return keepRow(event);
    });
    publish(world, 'a', { version: 1 });
    const process = started(world, definition);
    await caughtUp(world, process);
    await world.clock.advance(60_000);
    expect([calls, (await checkpointOf(world))?.epoch]).toEqual([1, 1]);
    await world.stores.checkpoints.reset({ ...partition(), scope, offset: 0, who: 'op', why: 'again' });
    await world.clock.advance(10_000);
    expect(calls).toBe(2);
    expect(partitionStatus(process)).toMatchObject({ state: 'following', offset: 1, epoch: 3 });
    await stopped(world, process);
  });

  test('is noticed by an owner that stands at a gap, which goes on from the new position', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1 });
    const first = started(world);
    await caughtUp(world, first);
    await stopped(world, first);
    for (const version of [2, 3]) publish(world, 'a', { version });
    world.log.expire(partition(), 2);
    const process = started(world);
    await caughtUp(world, process);
    expect(partitionStatus(process)?.state).toBe('gap');
    await world.stores.checkpoints.reset({ ...partition(), scope, offset: 2, who: 'op', why: 'the gap is accepted' });
    await world.clock.advance(10_000);
    expect(partitionStatus(process)).toMatchObject({ state: 'following', reason: undefined, offset: 3 });
    expect(await rowsOf(world)).toEqual({ a: { status: 'v3', version: 3 } });
    await stopped(world, process);
  });
});

describe('A partition that another one waits for', () => {
  test('does not keep this process from hearing of what it lost', async () => {
    const world = shopWorld({ partitions: 2, assigning: 'by hand' });
    let isDown = true;
    const { log } = world.stores;
    const stores: Stores = {
      ...world.stores,
      log: {
        describe: async (topic, partitions) => {
          if (isDown && partitions?.includes(0)) throw new UnavailableError('Partition 0 has no leader now.');
          return log.describe(topic, partitions);
        },
        offsetsAt: (topic, instantMs) => log.offsetsAt(topic, instantMs),
        open: (subscription, topics) => log.open(subscription, topics),
        readAt: (position) => log.readAt(position),
        mirror: (subscription, position) => log.mirror(subscription, position),
      },
    };
    publish(world, 'a', { version: 1 });
    publish(world, 'b', { version: 1, partition: 1 });
    const process = started(world, shopWorker(), { stores });
    await world.clock.advance(100);
    const [session] = world.log.sessions;
    session?.assign({ assigned: [partition(0), partition(1)], lost: [] });
    await world.clock.advance(1_000);
    expect(partitionStatus(process)).toMatchObject({ state: 'waiting', reason: 'Partition 0 has no leader now.' });
    expect(Object.keys(await rowsOf(world))).toEqual(['b']);
    session?.assign({ assigned: [], lost: [partition(1)] });
    await world.clock.advance(10);
    expect(partitionStatus(process, 1)).toBeUndefined();
    isDown = false;
    await world.clock.advance(10_000);
    expect(Object.keys(await rowsOf(world))).toEqual(['a', 'b']);
    await stopped(world, process);
  });
});

test('Assignments that cannot be read now are asked for again', async () => {
  const world = shopWorld();
  const { log } = world.stores;
  let failures = 0;
  const stores: Stores = {
    ...world.stores,
    log: {
      describe: (topic, partitions) => log.describe(topic, partitions),
      offsetsAt: (topic, instantMs) => log.offsetsAt(topic, instantMs),
      readAt: (position) => log.readAt(position),
      mirror: (subscription, position) => log.mirror(subscription, position),
      open: (subscription, topics) => {
        const session = log.open(subscription, topics);
        return {
          pull: (from, limits, signal) => session.pull(from, limits, signal),
          stop: () => session.stop(),
          async *assignments(signal) {
            failures += 1;
            if (failures <= 3) throw new UnavailableError('The file is busy.');
            yield* session.assignments(signal);
          },
        };
      },
    },
  };
  publish(world, 'a', { version: 1 });
  const process = started(world, shopWorker(), { stores });
  await caughtUp(world, process);
  expect(process.failures).toEqual([]);
  expect(Object.keys(await rowsOf(world))).toEqual(['a']);
  await stopped(world, process);
});

test('Partitions that fail while a large window waits behind the one on the wire leave the others their turn', async () => {
  const world = shopWorld({ partitions: 3 });
  const publishMany = (number: number, count: number): void => {
    for (let n = 0; n < count; n += 1) publish(world, `p${number}-${count}-${n}`, { version: 1, partition: number });
  };
  const refused = async (): Promise<never> => {
    await world.clock.sleep(1_000);
    throw new NotAllowedError('writing is not allowed');
  };
  const store = new RecordingStore(world, {
    instead: ({ advances }) => (advances[0]?.fence.partition === 2 ? undefined : refused()),
  });
  const process = started(world, shopWorker(), { stores: store.stores });
  for (const number of [0, 1]) publishMany(number, 10);
  await world.clock.advance(500);
  for (const number of [0, 1]) publishMany(number, 1_200);
  await world.clock.advance(10_000);
  publishMany(2, 3_000);
  await world.clock.advance(10_000);
  const states = [0, 1, 2].map((number) => partitionStatus(process, number)?.state);
  expect(states).toEqual(['stopped', 'stopped', 'following']);
  expect(Object.keys(await rowsOf(world))).toHaveLength(3_000);
  await stopped(world, process);
});
