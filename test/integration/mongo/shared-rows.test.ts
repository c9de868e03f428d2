import { describe, expect, test } from 'vitest';
import { openMongo } from '../../../src/adapters/mongo/index.ts';
import { claimed, commitOn, partition, scope } from '../../contracts/stores-subject.ts';
import { freshStores, mongodb, runtime } from './mongo-stores.ts';
import { adding, modelNamed } from './plans.ts';

const totals = modelNamed('buyer_totals', { kind: 'totals' });

describe.skipIf(mongodb === undefined)('rows that several partitions write in MongoDB', () => {
  test('hold the exact sum, however many transactions meet on one row', async () => {
    await using stores = await freshStores();
    await using other = await openMongo({ url: mongodb ?? '', database: stores.database, service: 'eshop', runtime });
    await stores.subject.readModels.prepare(scope, totals);
    const commits = 40;
    const lanes = [0, 1, 2, 3].map(async (number) => {
      const owner = await claimed(number % 2 === 0 ? stores.subject : other, {
        at: { ...partition, topic: `t${number}` },
      });
      for (let n = 1; n <= commits; n += 1) await commitOn(owner, { offset: n, plan: adding(totals, 'b-1', n) });
    });
    await Promise.all(lanes);
    const sum = (lanes.length * commits * (commits + 1)) / 2;
    expect(await stores.subject.readModels.readRow(totals.name, 'b-1')).toEqual({ n: sum });
  });
});
