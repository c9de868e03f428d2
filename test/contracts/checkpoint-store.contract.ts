import { expect } from 'vitest';
import type { Checkpoint } from '../../src/checkpoints/checkpoint.ts';
import type { CheckpointStore, SaveResult } from '../../src/checkpoints/checkpoint-store.ts';
import type { Fence, Scope } from '../../src/checkpoints/epoch.ts';
import type { Initialisation } from '../../src/checkpoints/initialisation.ts';
import type { TopicPartition } from '../../src/log/position.ts';
import type { Contract } from './contract.ts';
import { partition, scope } from './stores-subject.ts';

const initialisation: Initialisation = {
  topic: partition.topic,
  identity: 'log-1',
  starts: [
    { partition: 0, offset: 7 },
    { partition: 1, offset: 0 },
  ],
  origin: 'start: end (reactor default)',
  isHistoryIncomplete: false,
};

type Claimed = {
  readonly of?: Scope;
  readonly at?: TopicPartition;
  readonly lowIfAdded?: number;
  readonly owner?: string;
};

async function claim(
  store: CheckpointStore,
  { of = scope, at = partition, lowIfAdded = 0, owner = 'a' }: Claimed = {},
): Promise<Checkpoint> {
  const result = await store.claim(of, { ...at, lowIfAdded }, owner);
  if (result.kind !== 'claimed') throw new Error(`refused: ${result.reason}`);
  return result.checkpoint;
}

async function start(store: CheckpointStore, claimed: Claimed = {}): Promise<Checkpoint> {
  await store.initialise(claimed.of ?? scope, initialisation);
  return claim(store, claimed);
}

function fenceOf({ topic, partition: number, epoch, sequence }: Checkpoint, of: Scope = scope): Fence {
  return { topic, partition: number, scope: of, epoch, sequence };
}

async function saved(store: CheckpointStore, from: Checkpoint, offset: number): Promise<Checkpoint> {
  expect(await store.save({ fence: fenceOf(from), offset, completed: [] })).toEqual({ kind: 'saved' });
  return { ...from, offset, sequence: from.sequence + 1 };
}

function expectFenced(result: SaveResult, stored: Partial<Checkpoint>): void {
  expect(result).toMatchObject({ kind: 'fenced', stored });
}

/** The promises of `CheckpointStore`. */
export const checkpointStoreContract: Contract<CheckpointStore> = {
  'an unknown subscription has no initialisation and no checkpoint, until it has': async (store) => {
    expect(await store.initialisation(scope, partition.topic)).toBeUndefined();
    expect(await store.read(scope, partition)).toBeUndefined();
    await store.initialise(scope, initialisation);
    expect(await store.initialisation(scope, partition.topic)).toEqual(initialisation);
    expect(await store.initialisation(scope, 'another topic')).toBeUndefined();
    expect(await store.read(scope, partition)).toBeUndefined();
    await claim(store);
    expect(await store.read(scope, partition)).toBeDefined();
  },

  'a claim without an initialisation of the topic is refused and leaves no checkpoint': async (store) => {
    const refused = { kind: 'refused', reason: 'not initialised' };
    expect(await store.claim(scope, { ...partition, lowIfAdded: 3 }, 'a')).toEqual(refused);
    expect(await store.read(scope, partition)).toBeUndefined();
    await start(store);
    expect(await store.claim(scope, { topic: 'another', partition: 0, lowIfAdded: 3 }, 'a')).toEqual(refused);
  },

  'of two initialisations at once the first stands, and both callers get it': async (store) => {
    const other: Initialisation = {
      ...initialisation,
      origin: 'start: beginning',
      starts: [{ partition: 0, offset: 1 }],
    };
    const [one, two] = await Promise.all([store.initialise(scope, initialisation), store.initialise(scope, other)]);
    expect(one).toEqual(two);
    expect(await store.initialise(scope, other)).toEqual(one);
    expect(await store.initialisation(scope, partition.topic)).toEqual(one);
  },

  'an initialisation keeps what it says, also without partitions': async (store) => {
    const empty: Initialisation = { ...initialisation, topic: 'later', starts: [], isHistoryIncomplete: true };
    expect(await store.initialise(scope, empty)).toEqual(empty);
    expect(await store.initialisation(scope, 'later')).toEqual(empty);
  },

  'a first claim stands where the initialisation says': async (store) => {
    const checkpoint = await start(store);
    expect(checkpoint).toMatchObject({
      ...partition,
      offset: 7,
      sequence: 0,
      completed: [],
      origin: initialisation.origin,
    });
    expect(checkpoint.epoch).toBeGreaterThan(0);
    expect(await store.read(scope, partition)).toEqual(checkpoint);
  },

  'a partition that was added later starts at its low': async (store) => {
    const checkpoint = await start(store, { at: { ...partition, partition: 5 }, lowIfAdded: 12 });
    expect(checkpoint).toMatchObject({ partition: 5, offset: 12 });
    expect(checkpoint.origin).not.toBe(initialisation.origin);
  },

  'each claim raises the epoch and begins a new sequence, also for the same owner': async (store) => {
    const first = await start(store);
    const moved = await saved(store, first, 9);
    const second = await claim(store);
    expect(second).toMatchObject({ epoch: first.epoch + 1, sequence: 0, offset: 9 });
    const third = await claim(store, { owner: 'b' });
    expect(third).toMatchObject({ epoch: first.epoch + 2, sequence: 0, offset: 9 });
    expectFenced(await store.save({ fence: fenceOf(moved), offset: 20, completed: [] }), third);
  },

  'two claims at once get different epochs': async (store) => {
    await start(store);
    const [one, two] = await Promise.all([claim(store), claim(store, { owner: 'b' })]);
    expect(one.epoch).not.toBe(two.epoch);
  },

  'an accepted save moves the position and raises the sequence by one': async (store) => {
    const first = await start(store);
    await saved(store, await saved(store, first, 10), 11);
    const read = await store.read(scope, partition);
    expect(read).toMatchObject({ epoch: first.epoch, sequence: 2, offset: 11, origin: 'checkpoint' });
    expect(read?.savedAt).toBeGreaterThanOrEqual(first.savedAt);
  },

  'the origin of a start stays until the position moves': async (store) => {
    const first = await start(store);
    const same = await saved(store, first, first.offset);
    expect(await store.read(scope, partition)).toMatchObject({ sequence: 1, origin: initialisation.origin });
    await saved(store, same, first.offset + 1);
    expect(await store.read(scope, partition)).toMatchObject({ sequence: 2, origin: 'checkpoint' });
  },

  'a save under an older epoch is refused, changes nothing and is told what stands': async (store) => {
    const old = await start(store);
    const current = await claim(store, { owner: 'b' });
    expectFenced(await store.save({ fence: fenceOf(old), offset: 100, completed: [] }), current);
    expect(await store.read(scope, partition)).toEqual(current);
  },

  'a save under the right epoch with another sequence is refused': async (store) => {
    const first = await start(store);
    const current = await saved(store, first, 8);
    for (const sequence of [current.sequence - 1, current.sequence + 1]) {
      const fence = { ...fenceOf(current), sequence };
      expectFenced(await store.save({ fence, offset: 100, completed: [] }), { offset: 8, sequence: current.sequence });
    }
    expect(await store.read(scope, partition)).toMatchObject({ offset: 8, sequence: 1 });
  },

  'the own lost reply shows as the own epoch one sequence further': async (store) => {
    const first = await start(store);
    const save = { fence: fenceOf(first), offset: 8, completed: [] };
    expect(await store.save(save)).toEqual({ kind: 'saved' });
    expectFenced(await store.save(save), { epoch: first.epoch, sequence: first.sequence + 1, offset: 8 });
  },

  'of two saves at once under one fence one is accepted': async (store) => {
    const fence = fenceOf(await start(store));
    const results = await Promise.all([8, 9].map((offset) => store.save({ fence, offset, completed: [] })));
    expect(results.map(({ kind }) => kind).toSorted()).toEqual(['fenced', 'saved']);
    expect(await store.read(scope, partition)).toMatchObject({ sequence: 1 });
  },

  'a save never moves backwards': async (store) => {
    const first = await start(store);
    const current = await saved(store, first, 20);
    expectFenced(await store.save({ fence: fenceOf(current), offset: 19, completed: [] }), { offset: 20, sequence: 1 });
    expect(await store.read(scope, partition)).toMatchObject({ offset: 20, sequence: 1 });
  },

  'a save without a checkpoint is refused, and nothing stands there': async (store) => {
    const fence = { ...partition, scope, epoch: 1, sequence: 0 };
    expect(await store.save({ fence, offset: 1, completed: [] })).toEqual({ kind: 'fenced', stored: undefined });
    expect(await store.read(scope, partition)).toBeUndefined();
    expect(await start(store)).toMatchObject({ offset: 7 });
  },

  'neighbours stay as they are': async (store) => {
    const neighbours: readonly Claimed[] = [
      { at: { ...partition, partition: 1 } },
      { of: { ...scope, generation: 2 } },
      { of: { ...scope, subscription: `${scope.subscription}2` } },
    ];
    const before = [];
    for (const neighbour of neighbours) before.push(await start(store, neighbour));
    await saved(store, await start(store), 1_000);
    const after = [];
    for (const { of = scope, at = partition } of neighbours) after.push(await store.read(of, at));
    expect(after).toEqual(before);
    expect(await store.read(scope, partition)).toMatchObject({ offset: 1_000 });
  },

  'values keep their types, however large or odd': async (store) => {
    const odd: Scope = { subscription: 'Ö😀.on"Event\'%_$', generation: 12 };
    const first = await start(store, { of: odd });
    const offset = 2 ** 52;
    const completed = [
      { from: offset + 1, to: offset + 5 },
      { from: offset + 7, to: offset + 8 },
    ];
    expect(await store.save({ fence: fenceOf(first, odd), offset, completed })).toEqual({ kind: 'saved' });
    expect(await store.read(odd, partition)).toMatchObject({ offset, completed, sequence: 1, epoch: first.epoch });
    expect(await claim(store, { of: odd })).toMatchObject({ offset, completed });
  },

  'a reset moves back in one write and fences the owner': async (store) => {
    const current = await saved(store, await start(store), 50);
    await store.reset({ ...partition, scope, offset: 3, who: 'ann', why: 'a test' });
    const after = await store.read(scope, partition);
    expect(after).toMatchObject({ offset: 3, epoch: current.epoch + 1, sequence: 0, completed: [] });
    expect(after?.origin).toContain('ann');
    expectFenced(await store.save({ fence: fenceOf(current), offset: 60, completed: [] }), { offset: 3 });
    expect(await claim(store)).toMatchObject({ offset: 3, epoch: current.epoch + 2 });
  },

  'a reset forgets what was finished beyond the position': async (store) => {
    const first = await start(store);
    await store.save({ fence: fenceOf(first), offset: 10, completed: [{ from: 12, to: 14 }] });
    await store.reset({ ...partition, scope, offset: 10, who: 'ann', why: 'a test' });
    expect(await claim(store)).toMatchObject({ offset: 10, completed: [] });
  },

  'a reset of a partition nobody claimed decides where the first claim stands': async (store) => {
    await store.initialise(scope, initialisation);
    await store.reset({ ...partition, scope, offset: 99, who: 'ann', why: 'a test' });
    expect(await claim(store)).toMatchObject({ offset: 99, sequence: 0 });
  },

  'after a drop, repeated or not, a new initialisation works': async (store) => {
    await store.drop(scope);
    await saved(store, await start(store), 50);
    const other = await start(store, { of: { ...scope, generation: 2 } });
    await store.drop(scope);
    await store.drop(scope);
    expect(await store.read(scope, partition)).toBeUndefined();
    expect(await store.initialisation(scope, partition.topic)).toBeUndefined();
    expect(await store.claim(scope, { ...partition, lowIfAdded: 0 }, 'a')).toMatchObject({ kind: 'refused' });
    expect(await store.read({ ...scope, generation: 2 }, partition)).toEqual(other);
    const again: Initialisation = { ...initialisation, starts: [{ partition: 0, offset: 2 }] };
    expect(await store.initialise(scope, again)).toEqual(again);
    expect(await claim(store)).toMatchObject({ offset: 2, sequence: 0 });
  },

  'an owner from before a drop stays fenced': async (store) => {
    const old = await start(store);
    await store.drop(scope);
    const current = await start(store);
    expectFenced(await store.save({ fence: fenceOf(old), offset: 100, completed: [] }), { offset: current.offset });
    expect(await store.read(scope, partition)).toEqual(current);
  },

  'the list holds every checkpoint with whose it is': async (store) => {
    const second: Scope = { subscription: 'Shipping.onOrder', generation: 3 };
    const one = await start(store, { owner: 'node-1' });
    const two = await start(store, { of: second, at: { ...partition, partition: 1 }, owner: 'node-2' });
    expect(await store.list()).toEqual([
      { ...one, scope, owner: 'node-1' },
      { ...two, scope: second, owner: 'node-2' },
    ]);
  },
};
