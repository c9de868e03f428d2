import { describe, expect, test } from 'vitest';
import { eshopCommits } from '../../../examples/eshop/generator/eshop-commits.ts';
import eshop from '../../../examples/eshop/worker.ts';
import { openEmbedded } from '../../../src/adapters/embedded/index.ts';
import { nodeRuntime } from '../../../src/adapters/node/index.ts';
import { Engine } from '../../../src/engine/engine.ts';
import { silentLogger } from '../../../src/runtime/logger.ts';
import { defaultSettings } from '../../../src/subscriptions/settings.ts';
import type { Stores } from '../../../src/subscriptions/stores.ts';
import { EshopModel } from '../../support/eshop-model.ts';
import { freshStores, mongodb } from './mongo-stores.ts';

const commits = [...eshopCommits({ commits: 4_000, seed: 11 })];

/** Small windows, so that rows meet stored ones, and several engines on all partitions at once, which take them from each other. */
function engineOn(stores: Stores, owner: string): Engine {
  const settings = { ...defaultSettings, batch: { ...defaultSettings.batch, records: 300 } };
  return new Engine({ worker: eshop, stores, runtime: nodeRuntime(silentLogger), settings: () => settings, owner });
}

describe.skipIf(mongodb === undefined)('a worker on MongoDB', () => {
  test('makes the rows of every kind of read model as they should be', async () => {
    await using log = await openEmbedded({ file: ':memory:', role: 'follower', partitions: 2 });
    await using mongo = await freshStores();
    await log.append(commits.map((commit) => JSON.stringify(commit)));
    const stores: Stores = { ...mongo.subject, log: log.log };
    await using one = engineOn(stores, 'one');
    await using two = engineOn(stores, 'two');
    one.start();
    two.start();
    const { isComplete } = await Promise.race([one.caughtUp(AbortSignal.timeout(50_000)), one.failed, two.failed]);
    expect(isComplete).toBe(true);
    await Promise.all([one.stop(), two.stop()]);
    expect(await mongo.subject.ledger.list({}, 10)).toEqual([]);
    for (const [model, expected] of Object.entries(new EshopModel().takeAll(commits).rows())) {
      const rows = await mongo.subject.readModels.readRows(model, { afterId: undefined, limit: 100_000 });
      expect(rows.length).toBeGreaterThan(10);
      expect(new Map(rows.map(({ id, row }) => [id, row]))).toEqual(expected);
    }
  });
});
