import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MongoStores, openMongo } from '../../../src/adapters/mongo/index.ts';
import type { Fence } from '../../../src/checkpoints/epoch.ts';
import type { WritePlan } from '../../../src/read-models/write-plan.ts';
import { UnavailableError } from '../../../src/runtime/errors.ts';
import { claimed, commitOn, partition, scope } from '../../contracts/stores-subject.ts';
import { MongodServer } from '../../services/mongod-server.ts';
import { mongodb, runtime } from './mongo-stores.ts';
import { adding, modelNamed, rowOf, writing } from './plans.ts';

const rowsModel = modelNamed('order_summary');
const totals = modelNamed('buyer_totals', { kind: 'totals' });

type Lane = { readonly topic: string; acknowledged: number };

/** Commits one row and one addition at a time until it is told to stop, repeating what has no known outcome as an engine does. */
async function load(stores: MongoStores, written: Lane, until: AbortSignal): Promise<void> {
  const { topic } = written;
  const owner = await claimed(stores, { at: { ...partition, topic } });
  let fence: Fence = owner.fence();
  while (!until.aborted) {
    const offset = written.acknowledged + 1;
    const plan = both(writing(rowsModel, [rowOf(`${topic}-${offset}`, { offset })]), adding(totals, topic, 1));
    try {
      const result = await stores.readModels.commit({ scope, advances: [{ fence, offset }], plan, ledger: [] });
      const isOwn = result.kind === 'fenced' && result.stored?.sequence === fence.sequence + 1;
      expect(isOwn || result.kind === 'committed').toBe(true);
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      await sleep(50);
      continue;
    }
    fence = { ...fence, sequence: fence.sequence + 1 };
    written.acknowledged = offset;
  }
}

/** Waits until each lane has had some more commits acknowledged. */
async function underLoad(lanes: readonly Lane[]): Promise<void> {
  const goals = lanes.map((lane) => ({ lane, goal: lane.acknowledged + 10 }));
  while (goals.some(({ lane, goal }) => lane.acknowledged < goal)) await sleep(20);
}

function both(one: WritePlan, two: WritePlan): WritePlan {
  return {
    sources: [],
    rows: (sources) => [...one.rows(sources), ...two.rows(sources)],
    decide: (sources, rows) => {
      const decisions = [one.decide(sources, rows), two.decide(sources, rows)];
      const changes = decisions.flatMap((each) => (each.kind === 'changes' ? each.rows : []));
      return { kind: 'changes', rows: changes, sources: [] };
    },
    refsOf: (key) => [...one.refsOf(key), ...two.refsOf(key)],
  };
}

describe.skipIf(mongodb === undefined)('MongoDB that fails', () => {
  let server: MongodServer;
  beforeAll(async () => {
    server = await MongodServer.start();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('by kill -9 under load loses nothing that it acknowledged, and doubles nothing', async () => {
    await using stores = await openMongo({ url: server.url, database: 'killed', service: 'eshop', runtime });
    for (const model of [rowsModel, totals]) await stores.readModels.prepare(scope, model);
    const stop = new AbortController();
    const lanes = ['a', 'b', 'c'].map((topic): Lane => ({ topic, acknowledged: 0 }));
    const loading = Promise.all(lanes.map((lane) => load(stores, lane, stop.signal)));
    for (let round = 0; round < 2; round += 1) {
      await Promise.race([underLoad(lanes), loading]);
      await server.signal('SIGKILL');
      await server.start();
      await server.ready();
    }
    await Promise.race([underLoad(lanes), loading]);
    stop.abort();
    await loading;
    for (const { topic, acknowledged } of lanes) {
      expect(await stores.readModels.readRow(totals.name, topic)).toEqual({ n: acknowledged });
      expect(await stores.checkpoints.read(scope, { ...partition, topic })).toMatchObject({ offset: acknowledged });
      const rows = await stores.readModels.readRows(rowsModel.name, { afterId: `${topic}-`, limit: 100_000 });
      expect(rows.filter(({ id }) => id.startsWith(`${topic}-`))).toHaveLength(acknowledged);
    }
  });

  test('by standing still is given up on in time, and what was asked then takes effect once', async () => {
    const options = { url: server.url, database: 'frozen', service: 'eshop', runtime, deadlineMs: 1_000 };
    await using stores = await openMongo(options);
    await stores.readModels.prepare(scope, totals);
    const owner = await claimed(stores);
    await commitOn(owner, { offset: 1, plan: adding(totals, 'b-1', 1) });
    const batch = owner.batch({ offset: 2, plan: adding(totals, 'b-1', 10) });
    await server.signal('SIGSTOP');
    const startedAt = performance.now();
    const tries = [stores.readModels.commit(batch), stores.checkpoints.list(), stores.ping()];
    const outcomes = await Promise.allSettled(tries);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'UNAVAILABLE' } });
    }
    await expect(stores.readModels.commit(batch)).rejects.toBeInstanceOf(UnavailableError);
    await server.signal('SIGCONT');
    const result = await repeated(() => stores.readModels.commit(batch));
    expect(['committed', 'fenced']).toContain(result.kind);
    const ownLostReply = { kind: 'fenced', stored: { epoch: owner.fence().epoch, sequence: 2, offset: 2 } };
    expect(await stores.readModels.commit(batch)).toMatchObject(ownLostReply);
    expect(await stores.readModels.readRow(totals.name, 'b-1')).toEqual({ n: 11 });
  });

  test('and is gone says so, and a claim goes on when it is back', async () => {
    const options = { url: server.url, database: 'gone', service: 'eshop', runtime, selectionTimeoutMs: 300 };
    await using stores = await openMongo(options);
    const owner = await claimed(stores);
    await commitOn(owner, { offset: 1 });
    await server.signal('SIGTERM');
    await expect(claimed(stores)).rejects.toBeInstanceOf(UnavailableError);
    await expect(stores.ledger.count(scope)).rejects.toBeInstanceOf(UnavailableError);
    await server.start();
    await server.ready();
    const again = await repeated(() => claimed(stores));
    expect(again.fence().epoch).toBeGreaterThan(owner.fence().epoch);
    await repeated(() => commitOn(again, { offset: 2 }));
  });
});

async function repeated<T>(operation: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await operation();
    } catch (error) {
      if (!(error instanceof UnavailableError) || attempt > 100) throw error;
      await sleep(100);
    }
  }
}
