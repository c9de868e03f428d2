import { describe, expect, test } from 'vitest';
import { readModel } from '../../../src/read-models/read-model.ts';
import {
  caughtUp,
  checkpointOf,
  follow,
  keepRow,
  type OrderEvent,
  type OrderRow,
  Orders,
  parkedCommits,
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

describe('A handler that throws', () => {
  test('is tried once more, then its commit is parked as head; followers wait untried and others go on', async () => {
    const world = shopWorld();
    const calls: string[] = [];
    const definition = shopWorker((event) => {
      calls.push(`${event.ref.id}@${event.version}`);
      return keepRow(event);
    });
    publish(world, 'a', { version: 1 });
    publish(world, 'a', { version: 2, status: 'poison' });
    publish(world, 'b', { version: 1 });
    publish(world, 'a', { version: 3 });
    publish(world, 'b', { version: 2 });
    await follow(world, definition);
    expect(calls).toEqual(['a@1', 'a@2', 'a@2', 'b@1', 'b@2']);
    expect(await parkedCommits(world)).toEqual(['a@2 HANDLER_FAILED', 'a@3']);
    expect(await rowsOf(world)).toEqual({ a: { status: 'v1', version: 1 }, b: { status: 'v2', version: 2 } });
    expect((await checkpointOf(world))?.offset).toBe(5);
  });

  test('leaves an entry that says what failed, and holds the whole record', async () => {
    const world = shopWorld();
    const position = publish(world, 'a', { version: 1, status: 'poison' });
    await follow(world);
    const [listed] = await parkedIn(world);
    expect(listed?.failure).toMatchObject({
      attempts: 1,
      isRecoverable: false,
      nextRetryAtMs: undefined,
      cause: { name: 'PoisonError', message: 'order a is poison' },
    });
    expect(listed?.failure?.cause.stack).toContain('shop-world');
    const entry = await world.stores.ledger.entryAt(
      { subscription: 'OrderProjection.onEvent', generation: 1 },
      position,
    );
    expect(entry?.record).toEqual(world.log.recordsOf(partition())[0]);
  });

  test('keeps later commits behind the head after a restart', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1, status: 'poison' });
    await follow(world);
    publish(world, 'a', { version: 2 });
    publish(world, 'b', { version: 1 });
    await follow(world);
    expect(await parkedCommits(world)).toEqual(['a@1 HANDLER_FAILED', 'a@2']);
    expect(Object.keys(await rowsOf(world))).toEqual(['b']);
  });

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['a text', 'no'],
    ['a number', 0],
    [
      'an object that cannot be read',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('unreadable');
          },
        },
      ),
    ],
    ['an object without prototype', Object.create(null)],
  ])('may throw %s: the aggregate is parked, and the others go on', async (_what, thrown: unknown) => {
    const world = shopWorld();
    const definition = shopWorker((event) => {
      if (event.ref.id === 'a') throw thrown;
      return keepRow(event);
    });
    publish(world, 'a', { version: 1 });
    publish(world, 'b', { version: 1 });
    const process = await follow(world, definition);
    expect(await parkedCommits(world)).toEqual(['a@1 HANDLER_FAILED']);
    expect(Object.keys(await rowsOf(world))).toEqual(['b']);
    expect(process.failures).toEqual([]);
  });

  test('is not called for by time: nothing retries it', async () => {
    const world = shopWorld();
    let calls = 0;
    const definition = shopWorker((event) => {
      calls += 1;
      return keepRow(event);
    });
    publish(world, 'a', { version: 1, status: 'poison' });
    const process = started(world, definition);
    await world.clock.advance(900_000);
    expect(calls).toBe(2);
    await stopped(world, process);
  });
});

describe('A handler result that is no write', () => {
  const Other = readModel<{ n: number }>('others');
  test.each<[string, string, (event: OrderEvent) => unknown]>([
    ['a promise', 'HANDLER_RESULT_INVALID', async () => Orders.put('a', { status: '', version: 1 })],
    ['something else', 'HANDLER_RESULT_INVALID', () => ({ any: 'thing' })],
    ['a write to a model that the function does not name', 'MODEL_NOT_DECLARED', () => Other.put('a', { n: 1 })],
    [
      'two writes to one row',
      'ROW_WRITTEN_TWICE',
      () => [Orders.put('a', { status: '', version: 1 }), Orders.remove('a')],
    ],
    [
      'a value that no store can hold',
      'ROW_INVALID',
      () => Orders.put('a', { status: '', version: Number.NaN, extra: () => 1 } as OrderRow),
    ],
  ])('%s, parks the commit', async (_what, code, handle) => {
    const world = shopWorld();
    // What a handler written without types may return.
    const definition = shopWorker((event) => (event.ref.id === 'a' ? (handle(event) as undefined) : keepRow(event)));
    publish(world, 'a', { version: 1 });
    publish(world, 'b', { version: 1 });
    await follow(world, definition);
    expect(await parkedCommits(world)).toEqual([`a@1 ${code}`]);
    expect(Object.keys(await rowsOf(world))).toEqual(['b']);
  });
});

describe('An undecodable record', () => {
  test('with a readable key parks everything of that aggregate id, of every tenant', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1 });
    world.log.append(partition(), { key: 'a', value: '{"broken":' });
    publish(world, 'a', { version: 2 });
    publish(world, 'a', { version: 1, tenantId: 'other' });
    publish(world, 'b', { version: 1 });
    await follow(world);
    expect(await parkedCommits(world)).toEqual(['?@? UNDECODABLE', 'a@2', 'a@1']);
    expect(await rowsOf(world)).toEqual({ a: { status: 'v1', version: 1 }, b: { status: 'v1', version: 1 } });
  });

  test('without a readable key stands alone', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1 });
    world.log.append(partition(), { key: new Uint8Array([0xff]), value: 'x' });
    world.log.append(partition(), { key: undefined, value: new Uint8Array([0xc3, 0x28]) });
    publish(world, 'a', { version: 2 });
    await follow(world);
    expect(await parkedCommits(world)).toEqual(['?@? UNDECODABLE', '?@? UNDECODABLE']);
    expect(await rowsOf(world)).toEqual({ a: { status: 'v2', version: 2 } });
  });

  test('holds the aggregate also after a restart', async () => {
    const world = shopWorld();
    world.log.append(partition(), { key: 'a', value: 'x' });
    await follow(world);
    publish(world, 'a', { version: 1 });
    await follow(world);
    expect(await parkedCommits(world)).toEqual(['?@? UNDECODABLE', 'a@1']);
  });

  test('keeps its bytes, headers and time in the ledger', async () => {
    const world = shopWorld();
    const headers = [
      ['a', 'x'],
      ['a', new Uint8Array([1])],
      ['', undefined],
    ] as const;
    const position = world.log.append(partition(), {
      key: 'a',
      value: new Uint8Array([0xff, 0]),
      headers,
      timestamp: 7,
    });
    await follow(world);
    const entry = await world.stores.ledger.entryAt(
      { subscription: 'OrderProjection.onEvent', generation: 1 },
      position,
    );
    expect(entry?.record).toEqual({ ...position, key: 'a', value: new Uint8Array([0xff, 0]), headers, timestamp: 7 });
  });

  test('a tombstone is none: it is passed over', async () => {
    const world = shopWorld();
    world.log.append(partition(), { key: 'a', value: undefined });
    publish(world, 'a', { version: 1 });
    await follow(world);
    expect(await parkedIn(world)).toEqual([]);
    expect(Object.keys(await rowsOf(world))).toEqual(['a']);
  });
});

describe('The bound of parked commits', () => {
  test('per aggregate stops its partition with a state that names it, and drops nothing', async () => {
    const world = shopWorld({ partitions: 2 });
    publish(world, 'a', { version: 1, status: 'poison' });
    for (let version = 2; version <= 6; version += 1) publish(world, 'a', { version: version });
    publish(world, 'b', { version: 1 });
    publish(world, 'c', { version: 1, partition: 1 });
    const process = started(world, shopWorker(), { settings: settings({ parked: { perAggregate: 3 } }) });
    const found = await caughtUp(world, process);
    publish(world, 'c', { version: 2, partition: 1 });
    await world.clock.advance(1_000);
    expect(found.isComplete).toBe(false);
    expect(partitionStatus(process)).toMatchObject({
      state: 'stopped',
      reason: 'an aggregate has 3 parked commits, the bound parked.perAggregate',
      offset: 3,
      parked: 3,
    });
    expect(await parkedCommits(world)).toEqual(['a@1 HANDLER_FAILED', 'a@2', 'a@3']);
    expect((await checkpointOf(world))?.offset).toBe(3);
    expect(await rowsOf(world)).toEqual({ c: { status: 'v2', version: 2 } });
    await stopped(world, process);
  });

  test('per subscription stops all its partitions with a state that names it', async () => {
    const world = shopWorld({ partitions: 2 });
    for (const id of ['a', 'b', 'c']) publish(world, id, { version: 1, status: 'poison' });
    const process = started(world, shopWorker(), { settings: settings({ parked: { perSubscription: 2 } }) });
    const found = await caughtUp(world, process);
    expect(found.isComplete).toBe(false);
    expect(found.subscriptions[0]?.stopped).toContain('2 parked commits, the bound parked.perSubscription');
    publish(world, 'd', { version: 1, partition: 1 });
    await world.clock.advance(60_000);
    expect(await rowsOf(world)).toEqual({});
    expect(partitionStatus(process, 1)?.state).toBe('stopped');
    expect((await checkpointOf(world))?.offset).toBe(2);
    await stopped(world, process);
  });

  test('is met again by the next process, at the same place', async () => {
    const world = shopWorld();
    publish(world, 'a', { version: 1, status: 'poison' });
    publish(world, 'a', { version: 2 });
    const bounded = settings({ parked: { perAggregate: 1 } });
    await follow(world, shopWorker(), { settings: bounded });
    const process = await follow(world, shopWorker(), { settings: bounded });
    expect(partitionStatus(process)?.state).toBe('stopped');
    expect((await checkpointOf(world))?.offset).toBe(1);
    await follow(world);
    expect(await parkedCommits(world)).toEqual(['a@1 HANDLER_FAILED', 'a@2']);
  });
});
