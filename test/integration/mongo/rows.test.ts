import { MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { openEmbedded } from '../../../src/adapters/embedded/index.ts';
import { canonicalRow } from '../../../src/read-models/canonical-row.ts';
import type { ModelShape } from '../../../src/read-models/model-shape.ts';
import type { StoredRow } from '../../../src/read-models/stored-row.ts';
import type { RowValue } from '../../../src/read-models/write.ts';
import { claimed, commitOn, type StoresSubject, scope } from '../../contracts/stores-subject.ts';
import { freshStores, mongodb } from './mongo-stores.ts';
import { modelNamed, refOfRow, rowOf, writing } from './plans.ts';

/** JSON makes own members of any name, literals do not. */
function parsed(json: string): RowValue {
  return JSON.parse(json) as RowValue;
}

const names = ['a.b', '$id', '$set', '__proto__', '', '_id', '_tm', 'constructor', 'toString', '$ref', 'a.$b'];
const oddlyNamed = parsed(
  `{${names.map((name, n) => `${JSON.stringify(name)}:[{"${name}":${n}},{"x":{"${name}":${n}}}]`).join(',')}}`,
);
const rows: readonly RowValue[] = [
  canonicalRow({ a: undefined, list: [Number.NaN, -0, Infinity], at: new Date(8.64e15), n: -0, big: 2n ** 63n - 1n }),
  oddlyNamed,
  { _id: 'its own', _tm: { live: false }, x: 1 },
  { n: 2 ** 40, m: 2 ** 31, o: -(2 ** 31), p: 9_007_199_254_740_991, q: 1n, r: -5n, s: 1.5, t: 1e-320 },
  { text: 'a\0b', deep: parsed(`${'{"a":'.repeat(140)}1${'}'.repeat(140)}`) },
  {},
];

async function written(stores: StoresSubject, model: ModelShape): Promise<readonly unknown[]> {
  await stores.readModels.prepare(scope, model);
  const owner = await claimed(stores);
  const all = rows.map((value, n) => rowOf(`inserted-${n}`, value));
  const before = rows.map((_, n) => rowOf(`replaced-${n}`, { was: true }));
  await commitOn(owner, { plan: writing(model, [...all, ...before]) });
  const after = rows.map((value, n) => rowOf(`replaced-${n}`, value, 2));
  await commitOn(owner, { plan: writing(model, after) });
  return stores.readModels.readRows(model.name, { afterId: undefined, limit: 100 });
}

describe.skipIf(mongodb === undefined)('rows in MongoDB', () => {
  test('are the same as in the embedded file, inserted or replaced', async () => {
    await using stores = await freshStores();
    await using file = await openEmbedded({ file: ':memory:', role: 'follower' });
    const model = modelNamed('odd');
    const inMongo = await written(stores.subject, model);
    expect(inMongo).toHaveLength(2 * rows.length);
    expect(inMongo).toEqual(await written(file, model));
    expect(await stores.subject.readModels.readRow('odd', 'inserted-1')).toEqual(oddlyNamed);
    expect(await stores.subject.readModels.readRow('odd', 'replaced-1')).toEqual(oddlyNamed);
  });

  test.each([
    ['an object with the name of a type', { inner: { _bsontype: 'ObjectId' } }, /inner/],
    ['an object like a reference', { list: [{ $ref: 'orders', $id: 7 }] }, /list\.0/],
    ['a row like a reference', { $ref: 'orders', $id: 7 }, /The row itself/],
  ])('that would come back as something else are refused by name: %s', async (_what, value, path) => {
    await using stores = await freshStores();
    const model = modelNamed('odd');
    await stores.subject.readModels.prepare(scope, model);
    const owner = await claimed(stores.subject);
    const result = await owner.commit({ offset: 1, plan: writing(model, [rowOf('fine', {}), rowOf('bad', value)]) });
    expect(result).toMatchObject({
      kind: 'refused',
      refusals: [{ id: 'bad', ref: refOfRow('bad'), code: 'ROW_REFUSED', isRecoverable: false }],
    });
    expect(result.kind === 'refused' && result.refusals[0]?.message).toMatch(path);
    expect(await stores.subject.readModels.readRows('odd', { afterId: undefined, limit: 9 })).toEqual([]);
    await commitOn(owner, { offset: 1, plan: writing(model, [rowOf('fine', {})]) });
  });

  test('are refused alone where they, or a source record, are too large', async () => {
    await using stores = await freshStores();
    const model = modelNamed('joined', { kind: 'joined', primary: 'eshop.order' });
    await stores.subject.readModels.prepare(scope, model);
    const owner = await claimed(stores.subject);
    const half = 'x'.repeat(9 * 1024 * 1024);
    const part = (fields: RowValue) => ({ owner: refOfRow('O-1'), version: 1, eventIndex: 0, fields });
    const joined = (value: RowValue, parts: Readonly<Record<string, RowValue>>): StoredRow => ({
      id: 'O-1',
      isLive: true,
      value,
      guard: {
        kind: 'parts',
        parts: Object.fromEntries(Object.entries(parts).map(([name, fields]) => [name, part(fields)])),
      },
    });
    const both = joined({ a: half, b: half }, { 'eshop.order': { a: half }, 'eshop.payment': { b: half } });
    expect(await owner.commit({ plan: writing(model, [both]) })).toMatchObject({
      kind: 'refused',
      refusals: [{ id: 'O-1', code: 'ROW_TOO_LARGE' }],
    });
    // The values of parts are stored once.
    await commitOn(owner, { plan: writing(model, [joined({ a: half }, { 'eshop.order': { a: half } })]) });

    const held = { m: Array.from({ length: 160 }, (_, n) => String(n).padEnd(100_000, 'x')) };
    const source = { ref: refOfRow('O-2'), version: 1, missing: [], decided: 1, held, contributions: {} };
    const refused = await owner.commit({ plan: writing(model, [], { sources: [source] }) });
    expect(refused).toMatchObject({ kind: 'refused', refusals: [{ ref: refOfRow('O-2'), code: 'ROW_TOO_LARGE' }] });
  });

  test('are refused by name where the server itself refuses them', async () => {
    await using stores = await freshStores();
    const model = modelNamed('validated');
    await stores.subject.readModels.prepare(scope, model);
    await using client = new MongoClient(mongodb ?? '');
    await client.db(stores.database).command({ collMod: 'validated__g1', validator: { status: { $ne: 'BAD' } } });
    const owner = await claimed(stores.subject);
    const both = [rowOf('O-1', { status: 'GOOD' }), rowOf('O-2', { status: 'BAD' })];
    expect(await owner.commit({ plan: writing(model, both) })).toMatchObject({
      kind: 'refused',
      refusals: [{ id: 'O-2', code: 'ROW_REFUSED' }],
    });
  });
});
