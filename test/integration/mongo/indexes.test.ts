import { MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { IndexConflictError, IndexViolatedError, ModelNameReservedError } from '../../../src/adapters/mongo/index.ts';
import { claimed, commitOn, scope } from '../../contracts/stores-subject.ts';
import { freshStores, mongodb } from './mongo-stores.ts';
import { modelNamed, rowOf, writing } from './plans.ts';

const byEmail = { fields: { email: 1 }, isUnique: true } as const;
const byBuyer = { fields: { buyerId: 1, updatedAt: -1 }, isUnique: false } as const;
const byBuyerName = 'declared__buyer~id_1_updated~at_-1';

describe.skipIf(mongodb === undefined)('indexes in MongoDB', () => {
  test('serve readers through the view, for finding, sorting and counting', async () => {
    await using stores = await freshStores();
    await using client = new MongoClient(mongodb ?? '');
    const db = client.db(stores.database);
    const model = modelNamed('order_summary', { indexes: [byEmail, byBuyer] });
    await stores.subject.readModels.prepare(scope, model);
    const rows = Array.from({ length: 300 }, (_, n) =>
      rowOf(`O-${n}`, { email: `e${n}`, buyerId: `b-${n % 7}`, updatedAt: n }),
    );
    await commitOn(await claimed(stores.subject), { plan: writing(model, rows) });
    const view = db.collection<{ _id: string }>('order_summary');
    expect(await view.findOne({ _id: 'O-8' })).toEqual({ _id: 'O-8', email: 'e8', buyerId: 'b-1', updatedAt: 8 });
    const lookups = {
      page: view.find({ buyerId: 'b-1' }, { sort: { updatedAt: -1 }, limit: 20 }),
      unique: view.find({ email: 'e8' }),
      id: view.find({ _id: 'O-8' }),
      count: view.aggregate([{ $match: { buyerId: 'b-1' } }, { $count: 'n' }]),
    };
    const indexes = { page: byBuyerName, unique: 'declared__email_1_unique', id: '_id_', count: byBuyerName };
    for (const [name, cursor] of Object.entries(lookups)) {
      const explained = JSON.stringify(await cursor.explain());
      expect(explained).toContain(`"indexName":"${indexes[name as keyof typeof indexes]}"`);
      expect(explained).not.toMatch(/COLLSCAN|"SORT"/);
    }
    expect(await view.countDocuments({ buyerId: 'b-1' })).toBe(43);
  });

  test('are made and dropped as they are declared, and those of others stay', async () => {
    await using stores = await freshStores();
    await using client = new MongoClient(mongodb ?? '');
    const rows = client.db(stores.database).collection('account__g1');
    const names = async () => new Set((await rows.indexes()).map(({ name }) => name));
    await stores.subject.readModels.prepare(scope, modelNamed('account', { indexes: [byEmail, byBuyer] }));
    await rows.createIndex({ city: 1 }, { name: 'by hand' });
    expect(await names()).toEqual(new Set(['_id_', 'by hand', 'declared__email_1_unique', byBuyerName]));
    await stores.subject.readModels.prepare(scope, modelNamed('account', { indexes: [byEmail] }));
    expect(await names()).toEqual(new Set(['_id_', 'by hand', 'declared__email_1_unique']));
  });

  test('that are unique are refused with the model where the rows violate them', async () => {
    await using stores = await freshStores();
    const plain = modelNamed('account');
    await stores.subject.readModels.prepare(scope, plain);
    const rows = [rowOf('A-1', { email: 'x' }), rowOf('A-2', { email: 'x' })];
    await commitOn(await claimed(stores.subject), { plan: writing(plain, rows) });
    const preparing = stores.subject.readModels.prepare(scope, modelNamed('account', { indexes: [byEmail] }));
    await expect(preparing).rejects.toBeInstanceOf(IndexViolatedError);
    await expect(preparing).rejects.toThrow(/account/);
  });

  test('that collide with one made by hand are named', async () => {
    await using stores = await freshStores();
    await using client = new MongoClient(mongodb ?? '');
    const rows = client.db(stores.database).collection('account__g1');
    const partialFilterExpression = { '_tm.live': true };
    await rows.createIndex({ buyerId: 1, updatedAt: -1 }, { name: 'by hand', partialFilterExpression });
    const preparing = stores.subject.readModels.prepare(scope, modelNamed('account', { indexes: [byBuyer] }));
    await expect(preparing).rejects.toBeInstanceOf(IndexConflictError);
    await expect(preparing).rejects.toThrow(/by hand/);
  });

  test('let live rows without a value, or with null, stand beside each other', async () => {
    await using stores = await freshStores();
    const model = modelNamed('account', { indexes: [byEmail] });
    await stores.subject.readModels.prepare(scope, model);
    const owner = await claimed(stores.subject);
    const rows = [{}, {}, { email: null }, { email: null }, { email: 'x' }, { email: 7 }, { email: new Date(7) }];
    await commitOn(owner, {
      plan: writing(
        model,
        rows.map((value, n) => rowOf(`A-${n}`, value)),
      ),
    });
    for (const [n, value] of rows.slice(4).entries()) {
      const result = await owner.commit({ plan: writing(model, [rowOf(`B-${n}`, value)]) });
      expect(result).toMatchObject({ kind: 'refused', refusals: [{ code: 'ROW_NOT_UNIQUE' }] });
    }
  });

  test('made a moment ago do not get in the way of transactions', async () => {
    await using stores = await freshStores();
    for (let round = 0; round < 10; round += 1) {
      const models = [0, 1, 2].map((n) => modelNamed(`m${round}_${n}`, { indexes: [byEmail, byBuyer] }));
      const owner = await claimed(stores.subject);
      for (const model of models) {
        await stores.subject.readModels.prepare(scope, model);
        await commitOn(owner, { plan: writing(model, [rowOf('A', { email: 'x' })]) });
        expect(await stores.subject.readModels.readRow(model.name, 'A')).toEqual({ email: 'x' });
      }
    }
  });

  test('do not hide a collection that is no read model', async () => {
    await using stores = await freshStores();
    await using client = new MongoClient(mongodb ?? '');
    await client.db(stores.database).createCollection('customers');
    const preparing = stores.subject.readModels.prepare(scope, modelNamed('customers'));
    await expect(preparing).rejects.toBeInstanceOf(ModelNameReservedError);
    for (const name of ['tm_owner', 'a__g1', 'system.views']) {
      await expect(stores.subject.readModels.prepare(scope, modelNamed(name))).rejects.toThrow(/kept/);
    }
  });
});
