import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { type EmbeddedFile, openEmbedded } from '../../../../../src/adapters/embedded/index.ts';
import type { Checkpoint } from '../../../../../src/checkpoints/checkpoint.ts';
import type { Scope } from '../../../../../src/checkpoints/epoch.ts';
import type { RefKey } from '../../../../../src/log/ref.ts';
import type { IndexShape, ModelShape } from '../../../../../src/read-models/model-shape.ts';
import type { RowValue } from '../../../../../src/read-models/write.ts';
import { scratchDirectory } from '../scratch-directory.ts';

const first: Scope = { subscription: 'Orders.onEvent', generation: 1 };
const partition = { topic: 't', partition: 0 };

function modelOf(name: string, ...indexes: readonly IndexShape[]): ModelShape {
  return { name, kind: 'rows', primary: undefined, indexes };
}

type Rows = Readonly<Record<string, RowValue>>;

/** Inserts rows of their own in one commit, into the first generation if none is named. */
async function insert(file: EmbeddedFile, model: ModelShape | (ModelShape & { of: Scope }), rows: Rows) {
  const scope = 'of' in model ? model.of : first;
  await file.checkpoints.initialise(scope, {
    topic: partition.topic,
    identity: '',
    starts: [],
    origin: '',
    isHistoryIncomplete: false,
  });
  const claim = await file.checkpoints.claim(scope, { ...partition, lowIfAdded: 0 }, 'o');
  if (claim.kind !== 'claimed') throw new Error('refused');
  const { epoch, sequence }: Checkpoint = claim.checkpoint;
  const owner = 'eshop.order/(0)/x' as RefKey;
  return file.readModels.commit({
    scope,
    advances: [{ fence: { ...partition, scope, epoch, sequence }, offset: 0 }],
    ledger: [],
    plan: {
      sources: [],
      rows: () => [],
      refsOf: () => [owner],
      decide: () => ({
        kind: 'changes',
        sources: [],
        rows: Object.entries(rows).map(([id, value]) => ({
          kind: 'insert',
          model,
          row: { id, isLive: true, value, guard: { kind: 'owner', owner, version: 1, eventIndex: 0 } },
        })),
      }),
    },
  });
}

function columnsOf(file: string, sql: string): unknown[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare(sql)
      .all()
      .map((row) => Object.values(row).join(' '));
  } finally {
    database.close();
  }
}

describe('a read model in the embedded file', () => {
  test('is a view of live rows with their JSON, for whoever reads by SQL', async () => {
    await using directory = await scratchDirectory();
    const path = directory.path('data.db');
    await using file = await openEmbedded({ file: path, role: 'follower' });
    const model = modelOf('order_summary');
    await file.readModels.prepare(first, model);
    await insert(file, model, { 'O-1': { status: 'NEW', 'a.b': { c: 1 } } });
    expect(columnsOf(path, 'SELECT * FROM order_summary')).toEqual(['O-1 {"status":"NEW","a.b":{"c":1}}']);
    expect(columnsOf(path, `SELECT json_extract(value, '$."a.b".c') FROM order_summary`)).toEqual(['1']);
  });

  test('serves lookups through the view by its indexes', async () => {
    await using directory = await scratchDirectory();
    const path = directory.path('data.db');
    await using file = await openEmbedded({ file: path, role: 'follower' });
    const model = modelOf('m', { fields: { buyerId: 1, 'at.day': -1 }, isUnique: false });
    await file.readModels.prepare(first, model);
    const plan = `EXPLAIN QUERY PLAN SELECT id FROM m WHERE json_extract(value, '$."buyerId"') = 'b'`;
    expect(columnsOf(path, `${plan} ORDER BY json_extract(value, '$."at"."day"') DESC`).join('\n')).toMatch(
      /SEARCH m__g1 USING INDEX m__g1~buyer~id_1_at\.day_-1 \(<expr>=\?\)$/,
    );
    expect(columnsOf(path, `EXPLAIN QUERY PLAN SELECT value FROM m WHERE id = 'x'`).join('\n')).toContain(
      'USING INDEX sqlite_autoindex_m__g1_1',
    );
  });

  test('indexes fields of any name', async () => {
    await using file = await openEmbedded({ file: ':memory:', role: 'follower' });
    for (const [number, field] of ['$id', 'a"b', "it's", '', '__proto__'].entries()) {
      const model = modelOf(`m${number}`, { fields: { [field]: 1 }, isUnique: true });
      await file.readModels.prepare(first, model);
      const value = JSON.parse(`{${JSON.stringify(field)}:"same"}`) as RowValue;
      expect(await insert(file, model, { a: value, c: { other: 1 }, d: { other: 1 } })).toEqual({ kind: 'committed' });
      expect(await insert(file, model, { b: value })).toMatchObject({ kind: 'refused' });
    }
  });

  test('gets new indexes and loses those that are not declared any more', async () => {
    await using directory = await scratchDirectory();
    const path = directory.path('data.db');
    await using file = await openEmbedded({ file: path, role: 'follower' });
    const indexes = () =>
      columnsOf(
        path,
        `SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL
      AND tbl_name = 'm__g1' ORDER BY name`,
      );
    await file.readModels.prepare(first, modelOf('m', { fields: { a: 1 }, isUnique: true }));
    expect(indexes()).toEqual(['m__g1~a_1_unique']);
    await file.readModels.prepare(
      first,
      modelOf('m', { fields: { a: 1 }, isUnique: false }, { fields: { b: -1 }, isUnique: true }),
    );
    expect(indexes()).toEqual(['m__g1~a_1', 'm__g1~b_-1_unique']);
  });

  test.each([
    [{ a: 1 }, { A: 1 }],
    [{ a: 1, b: 1 }, { a_1_b: 1 }],
    [{ a: 1 }, { a: -1 }],
    [{ 'a~b': 1 }, { aB: 1 }],
  ] as const)('has an index for each declaration: %j and %j', async (one, other) => {
    await using directory = await scratchDirectory();
    const path = directory.path('data.db');
    await using file = await openEmbedded({ file: path, role: 'follower' });
    const declared = [one, other].map((fields) => ({ fields: { ...fields }, isUnique: false }));
    await file.readModels.prepare(first, modelOf('m', ...declared));
    const names = columnsOf(
      path,
      `SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = 'm__g1'`,
    );
    expect(names).toHaveLength(2);
  });

  test('whose name reads like an index of another one stands beside it, whichever comes first', async () => {
    const indexed = modelOf('m', { fields: { x: 1 }, isUnique: false });
    const alike = ['m__g1__x_1', 'm__g1_x_1'].map((name) => modelOf(name));
    for (const models of [
      [indexed, ...alike],
      [...alike, indexed],
    ]) {
      await using file = await openEmbedded({ file: ':memory:', role: 'follower' });
      for (const model of models) await file.readModels.prepare(first, model);
      expect(await file.readModels.listModels()).toEqual(['m', 'm__g1__x_1', 'm__g1_x_1']);
    }
  });

  test('in a file of an earlier version has its indexes made anew by their declaration', async () => {
    await using directory = await scratchDirectory();
    const path = directory.path('data.db');
    const index = (fields: IndexShape['fields']): IndexShape => ({ fields, isUnique: true });
    {
      await using file = await openEmbedded({ file: path, role: 'follower' });
      await file.readModels.prepare(first, modelOf('m'));
    }
    const before = new DatabaseSync(path);
    before.exec(`CREATE UNIQUE INDEX "m__g1__a~b_1_unique" ON m__g1 (json_extract(value, '$."a~b"')) WHERE live = 1`);
    before.close();
    await using file = await openEmbedded({ file: path, role: 'follower' });
    const model = modelOf('m', index({ aB: 1 }));
    await file.readModels.prepare(first, model);
    expect(await insert(file, model, { a: { 'a~b': 1, aB: 1 }, b: { 'a~b': 1, aB: 2 } })).toEqual({
      kind: 'committed',
    });
    expect(await insert(file, model, { c: { aB: 2 } })).toMatchObject({ kind: 'refused' });
  });

  test('holds rows to an index that was added while running', async () => {
    await using file = await openEmbedded({ file: ':memory:', role: 'follower' });
    const plain = modelOf('m');
    await file.readModels.prepare(first, plain);
    await insert(file, plain, { a: { n: 1 } });
    const unique = modelOf('m', { fields: { n: 1 }, isUnique: true });
    await file.readModels.prepare(first, unique);
    expect(await insert(file, unique, { b: { n: 1 } })).toMatchObject({ kind: 'refused' });
    expect(await insert(file, unique, { b: { n: 2 } })).toEqual({ kind: 'committed' });
  });

  test('refuses a unique index that its rows violate, and stays as it was', async () => {
    await using file = await openEmbedded({ file: ':memory:', role: 'follower' });
    const plain = modelOf('m');
    await file.readModels.prepare(first, plain);
    await insert(file, plain, { a: { email: 'x' }, b: { email: 'x' } });
    const unique = modelOf('m', { fields: { email: 1 }, isUnique: true });
    await expect(file.readModels.prepare(first, unique)).rejects.toMatchObject({
      code: 'INDEX_VIOLATED',
      details: { model: 'm', index: 'm__g1~email_1_unique' },
    });
    expect(await insert(file, plain, { c: { email: 'x' } })).toEqual({ kind: 'committed' });
  });

  test('shows the generation that serves, while the next one is filled', async () => {
    await using file = await openEmbedded({ file: ':memory:', role: 'follower' });
    const model = modelOf('m');
    const next = { ...first, generation: 2 };
    await file.readModels.prepare(first, model);
    await file.readModels.prepare(next, model);
    await insert(file, model, { a: { n: 1 } });
    await insert(file, { ...model, of: next }, { a: { n: 2 }, b: { n: 2 } });
    expect(await file.readModels.readRows('m', { afterId: undefined, limit: 10 })).toEqual([
      { id: 'a', row: { n: 1 } },
    ]);
    expect(await file.readModels.listModels()).toEqual(['m']);
  });

  test.each(['tm_meta', 'tm_x', 'sqlite_x', 'm__g1', 'a__g12'])('is not named %s', async (name) => {
    await using file = await openEmbedded({ file: ':memory:', role: 'follower' });
    await expect(file.readModels.prepare(first, modelOf(name))).rejects.toMatchObject({ code: 'MODEL_NAME_RESERVED' });
  });

  test.each(['order', 'select', 'index', 'x__g', 'g1'])('may be named %s', async (name) => {
    await using file = await openEmbedded({ file: ':memory:', role: 'follower' });
    const model = modelOf(name);
    await file.readModels.prepare(first, model);
    await insert(file, model, { a: { n: 1 } });
    expect(await file.readModels.readRow(name, 'a')).toEqual({ n: 1 });
  });
});
