import { expect } from 'vitest';
import type { Advance } from '../../src/checkpoints/advance.ts';
import type { RefKey } from '../../src/log/ref.ts';
import type { ModelShape } from '../../src/read-models/model-shape.ts';
import type { SourceRecord } from '../../src/read-models/source-record.ts';
import { type RowChange, rowKeyOf, type StoredRow } from '../../src/read-models/stored-row.ts';
import type { Amounts, RowValue } from '../../src/read-models/write.ts';
import type { FoundRows, FoundSources, Refusal, WritePlan } from '../../src/read-models/write-plan.ts';
import type { Contract } from './contract.ts';
import { claimed, commitOn, type Owner, partition, type StoresSubject, scope } from './stores-subject.ts';

const summaries: ModelShape = { name: 'order_summary', kind: 'rows', primary: undefined, indexes: [] };
const joined: ModelShape = { name: 'order_with_payment', kind: 'joined', primary: 'eshop.order', indexes: [] };
const totals: ModelShape = { name: 'buyer_totals', kind: 'totals', primary: undefined, indexes: [] };
const accounts: ModelShape = {
  name: 'account',
  kind: 'rows',
  primary: undefined,
  indexes: [
    { fields: { email: 1 }, isUnique: true },
    { fields: { 'address.city': 1, since: -1 }, isUnique: false },
  ],
};

function refOfRow(id: string): RefKey {
  return `eshop.order/(0)/${encodeURIComponent(id)}` as RefKey;
}

function row(id: string, value: RowValue, version = 1): StoredRow {
  return { id, isLive: true, value, guard: { kind: 'owner', owner: refOfRow(id), version, eventIndex: 3 } };
}

function tombstone(id: string, version = 1): StoredRow {
  return { ...row(id, {}, version), isLive: false };
}

type Seen = { sources: FoundSources; rows: FoundRows };
type PlanParts = {
  readonly model: ModelShape;
  readonly rows?: readonly StoredRow[];
  readonly deletes?: readonly string[];
  readonly sources?: readonly SourceRecord[];
  readonly reads?: readonly string[];
  readonly seen?: Seen[];
};

/** Writes rows as they are, whatever is found: the guards are the core's business. */
function putting({ model, rows = [], deletes = [], sources = [], reads = [], seen }: PlanParts): WritePlan {
  const ids = [...rows.map(({ id }) => id), ...deletes, ...reads];
  return {
    sources: sources.map(({ ref }) => ref),
    rows: () => ids.map((id) => ({ model, id })),
    decide: (foundSources, foundRows) => {
      seen?.push({ sources: foundSources, rows: foundRows });
      const puts = rows.map((each): RowChange => {
        return { kind: foundRows.has(rowKeyOf(model, each.id)) ? 'replace' : 'insert', model, row: each };
      });
      const removed = deletes.map((id): RowChange => ({ kind: 'delete', model, id }));
      return { kind: 'changes', rows: [...puts, ...removed], sources };
    },
    refsOf: ({ id }) => [refOfRow(id)],
  };
}

/** What a plan finds of these rows. */
async function foundBy(owner: Owner, model: ModelShape, ids: readonly string[]): Promise<(StoredRow | undefined)[]> {
  const seen: Seen[] = [];
  await commitOn(owner, { plan: putting({ model, reads: ids, seen }) });
  return ids.map((id) => seen[0]?.rows.get(rowKeyOf(model, id)));
}

async function prepared(stores: StoresSubject, ...models: readonly ModelShape[]): Promise<Owner> {
  for (const model of models) await stores.readModels.prepare(scope, model);
  return claimed(stores);
}

async function visible({ readModels }: StoresSubject, model: ModelShape): Promise<Readonly<Record<string, RowValue>>> {
  const rows = await readModels.readRows(model.name, { afterId: undefined, limit: 1_000 });
  return Object.fromEntries(rows.map((each) => [each.id, each.row]));
}

async function stands({ checkpoints }: StoresSubject): Promise<unknown> {
  return checkpoints.read(scope, partition);
}

/** JSON makes own members of any name, literals do not. */
function parsed(json: string): RowValue {
  return JSON.parse(json) as RowValue;
}

const oddValue: RowValue = {
  'a.b': 1,
  $id: 'x',
  $set: { $inc: { n: 1 } },
  $$twice: true,
  '': 'empty',
  ...parsed('{"__proto__":{"polluted":true},"constructor":"c","nested":{"__proto__":[1,{"$date":"not a date"}]}}'),
  text: 'ünïcode 😀 "quoted" \' \\ \u2028 \n',
  numbers: [0, -1.5, 1e300, 5e-324, Number.MAX_SAFE_INTEGER, Number.NaN, Infinity, -Infinity],
  long: 9_223_372_036_854_775_807n,
  negative: -1n,
  at: new Date('2026-02-03T04:05:06.789Z'),
  list: [null, true, [], {}, [new Date(0), 7n, { $long: '7' }]],
  looksLikeDate: { $date: '2026-01-01T00:00:00.000Z' },
  nothing: null,
};

/** The promises of `ReadModelStore`. */
export const readModelStoreContract: Contract<StoresSubject> = {
  'a commit writes rows and moves the checkpoint': async (stores) => {
    const owner = await prepared(stores, summaries);
    expect(await stores.readModels.readRow(summaries.name, 'O-1')).toBeUndefined();
    await commitOn(owner, { offset: 5, plan: putting({ model: summaries, rows: [row('O-1', { status: 'NEW' })] }) });
    expect(await stores.readModels.readRow(summaries.name, 'O-1')).toEqual({ status: 'NEW' });
    expect(await stands(stores)).toMatchObject({ offset: 5, sequence: 1, origin: 'checkpoint' });
  },

  'a commit without a plan moves the checkpoint alone': async (stores) => {
    const owner = await prepared(stores);
    await commitOn(owner, { offset: 5 });
    await commitOn(owner, { offset: 5 });
    expect(await stands(stores)).toMatchObject({ offset: 5, sequence: 2 });
  },

  'under an older epoch nothing is written': async (stores) => {
    const old = await prepared(stores, summaries);
    await commitOn(old, { offset: 2 });
    const current = await claimed(stores);
    const result = await old.commit({ offset: 9, plan: putting({ model: summaries, rows: [row('O-1', {})] }) });
    expect(result).toMatchObject({ kind: 'fenced', partition, stored: { epoch: current.fence().epoch, offset: 2 } });
    expect(await visible(stores, summaries)).toEqual({});
    expect(await stands(stores)).toMatchObject({ offset: 2, sequence: 0 });
  },

  'under another sequence nothing is written': async (stores) => {
    const owner = await prepared(stores, summaries);
    await commitOn(owner, { offset: 2 });
    const late = owner.batch({ offset: 9, plan: putting({ model: summaries, rows: [row('O-1', {})] }) });
    await commitOn(owner, { offset: 3 });
    expect(await stores.readModels.commit(late)).toMatchObject({ kind: 'fenced', stored: { offset: 3, sequence: 2 } });
    expect(await visible(stores, summaries)).toEqual({});
  },

  'the own lost reply shows as the own epoch one sequence further': async (stores) => {
    const owner = await prepared(stores, summaries);
    const batch = owner.batch({ offset: 4, plan: putting({ model: summaries, rows: [row('O-1', {})] }) });
    expect(await stores.readModels.commit(batch)).toEqual({ kind: 'committed' });
    const { epoch, sequence } = owner.fence();
    expect(await stores.readModels.commit(batch)).toMatchObject({
      kind: 'fenced',
      stored: { epoch, sequence: sequence + 1, offset: 4 },
    });
  },

  'a checkpoint never moves backwards': async (stores) => {
    const owner = await prepared(stores, summaries);
    await commitOn(owner, { offset: 7 });
    const result = await owner.commit({ offset: 6, plan: putting({ model: summaries, rows: [row('O-1', {})] }) });
    expect(result).toMatchObject({ kind: 'fenced', stored: { offset: 7, sequence: 1 } });
    expect(await visible(stores, summaries)).toEqual({});
  },

  'several checkpoints move together, or none when one of them is fenced': async (stores) => {
    const first = await prepared(stores, summaries);
    const at = { ...partition, topic: 'wow.eshop.payment.state' };
    const second = await claimed(stores, { at });
    const advances: Advance[] = [
      { fence: first.fence(), offset: 3 },
      { fence: second.fence(), offset: 4 },
    ];
    const plan = putting({ model: summaries, rows: [row('O-1', {})] });
    const batch = { scope, advances, plan, ledger: [] };
    expect(await stores.readModels.commit(batch)).toEqual({ kind: 'committed' });
    expect(await stands(stores)).toMatchObject({ offset: 3, sequence: 1 });
    expect(await stores.checkpoints.read(scope, at)).toMatchObject({ offset: 4, sequence: 1 });

    const moved = [{ fence: { ...first.fence(), sequence: 1 }, offset: 8 }, ...advances.slice(1)];
    const other = putting({ model: summaries, rows: [row('O-2', {})] });
    expect(await stores.readModels.commit({ ...batch, advances: moved, plan: other })).toMatchObject({
      kind: 'fenced',
      partition: at,
      stored: { offset: 4, sequence: 1 },
    });
    expect(await stands(stores)).toMatchObject({ offset: 3, sequence: 1 });
    expect(Object.keys(await visible(stores, summaries))).toEqual(['O-1']);
  },

  'a decision to refuse writes nothing and is handed on': async (stores) => {
    const owner = await prepared(stores, summaries);
    await commitOn(owner, { offset: 2 });
    const refusal: Refusal = {
      ref: refOfRow('O-1'),
      model: summaries.name,
      id: 'O-1',
      code: 'ROW_FOREIGN',
      message: 'The row O-1 belongs to another aggregate.',
      isRecoverable: false,
    };
    const plan: WritePlan = {
      ...putting({ model: summaries }),
      decide: () => ({ kind: 'refused', refusals: [refusal] }),
    };
    expect(await owner.commit({ offset: 3, plan })).toEqual({ kind: 'refused', refusals: [refusal] });
    expect(await stands(stores)).toMatchObject({ offset: 2, sequence: 1 });
  },

  'a plan that throws leaves nothing behind': async (stores) => {
    const owner = await prepared(stores, summaries);
    const thrown = new Error('a defect of the plan');
    const plan: WritePlan = {
      ...putting({ model: summaries }),
      decide: () => {
        throw thrown;
      },
    };
    await expect(owner.commit({ offset: 3, plan })).rejects.toBe(thrown);
    expect(await stands(stores)).toMatchObject({ offset: 0, sequence: 0 });
    await commitOn(owner, { offset: 3 });
  },

  'a plan finds the guards it wrote': async (stores) => {
    const owner = await prepared(stores, summaries);
    const rows = [row('O-1', { n: 1 }, 7), tombstone('O-2', 9)];
    await commitOn(owner, { plan: putting({ model: summaries, rows }) });
    const [live, removed, missing] = await foundBy(owner, summaries, ['O-1', 'O-2', 'O-3']);
    expect(live).toMatchObject({ id: 'O-1', isLive: true, guard: rows[0]?.guard });
    expect(removed).toMatchObject({ id: 'O-2', isLive: false, guard: rows[1]?.guard });
    expect(missing).toBeUndefined();
  },

  'a joined row keeps its parts, with all their values': async (stores) => {
    const owner = await prepared(stores, joined);
    const guard = { owner: refOfRow('O-1'), version: 3, eventIndex: 0 };
    const parts = {
      'eshop.order': { ...guard, fields: oddValue },
      'eshop.payment': { ...guard, version: 1, fields: undefined },
      ['__proto__']: { ...guard, fields: {} },
    };
    const stored: StoredRow = { id: 'O-1', isLive: true, value: oddValue, guard: { kind: 'parts', parts } };
    const hidden: StoredRow = { ...stored, id: 'O-2', isLive: false, value: {} };
    await commitOn(owner, { plan: putting({ model: joined, rows: [stored, hidden] }) });
    const [live, waiting] = await foundBy(owner, joined, ['O-1', 'O-2']);
    expect(live).toMatchObject({ isLive: true, guard: { kind: 'parts' } });
    expect(live?.guard).toEqual(stored.guard);
    expect(waiting).toMatchObject({ isLive: false });
    expect(waiting?.guard).toEqual(stored.guard);
    expect(await visible(stores, joined)).toEqual({ 'O-1': oddValue });
  },

  'a totals row keeps its sums and contributors': async (stores) => {
    const owner = await prepared(stores, totals);
    const sums: RowValue = { orders: 2, amount: 10.5, 'a.b': 1, $inc: -3, ...parsed('{"__proto__":4}') };
    const rows = [
      { id: 'b-1', isLive: true, value: sums, guard: { kind: 'contributors', contributors: 2, fields: { $inc: 1 } } },
      { id: 'b-2', isLive: true, value: sums, guard: { kind: 'contributors', contributors: undefined, fields: {} } },
    ] as const satisfies readonly StoredRow[];
    await commitOn(owner, { plan: putting({ model: totals, rows }) });
    expect(await foundBy(owner, totals, ['b-1', 'b-2'])).toEqual(rows);
    expect(await visible(stores, totals)).toEqual({ 'b-1': sums, 'b-2': sums });
  },

  'a plan finds source records before it names its rows': async (stores) => {
    const owner = await prepared(stores, summaries);
    const source: SourceRecord = {
      ref: refOfRow('O-1'),
      version: 9,
      missing: [{ from: 2, to: 4 }],
      decided: 8,
      held: { order_summary: ['$set', 'a.b', '__proto__'] },
      contributions: {
        buyer_totals: parsed('{"__proto__":{"$inc":1},"b.1":{"":-2.5}}') as Readonly<Record<string, Amounts>>,
      },
    };
    await commitOn(owner, { plan: putting({ model: summaries, sources: [source] }) });
    const seen: Seen[] = [];
    const asked: FoundSources[] = [];
    const plan = putting({ model: summaries, sources: [{ ...source, version: 10 }], seen });
    await commitOn(owner, {
      plan: {
        ...plan,
        rows: (sources) => {
          asked.push(sources);
          return [];
        },
      },
    });
    expect(asked.map((sources) => [...sources])).toEqual([[[source.ref, source]]]);
    expect(seen.map(({ sources }) => [...sources])).toEqual([[[source.ref, source]]]);
    const again: Seen[] = [];
    await commitOn(owner, { plan: putting({ model: summaries, sources: [source], seen: again }) });
    expect(again[0]?.sources.get(source.ref)?.version).toBe(10);
  },

  'source records belong to a subscription and a generation': async (stores) => {
    const owner = await prepared(stores, summaries);
    const source = { ref: refOfRow('O-1'), version: 9, missing: [], decided: 8, held: {}, contributions: {} };
    await commitOn(owner, { plan: putting({ model: summaries, sources: [source] }) });
    for (const of of [
      { ...scope, generation: 2 },
      { ...scope, subscription: 'Other.onEvent' },
    ]) {
      const seen: Seen[] = [];
      const other = await claimed(stores, { of });
      await commitOn(other, { plan: putting({ model: summaries, sources: [source], seen }) });
      expect(seen[0]?.sources.size).toBe(0);
    }
  },

  'readers see live rows only, also after a row was removed and came back': async (stores) => {
    const owner = await prepared(stores, summaries);
    const write = (each: StoredRow) => commitOn(owner, { plan: putting({ model: summaries, rows: [each] }) });
    await write(row('O-1', { n: 1 }, 1));
    await write(tombstone('O-1', 2));
    expect(await stores.readModels.readRow(summaries.name, 'O-1')).toBeUndefined();
    expect(await visible(stores, summaries)).toEqual({});
    await write(row('O-1', { m: 3 }, 3));
    expect(await stores.readModels.readRow(summaries.name, 'O-1')).toEqual({ m: 3 });
    expect(await visible(stores, summaries)).toEqual({ 'O-1': { m: 3 } });
  },

  'a deleted row is gone, guard and all': async (stores) => {
    const owner = await prepared(stores, totals);
    const stored = row('b-1', { orders: 1 });
    const gone: StoredRow = { ...stored, guard: { kind: 'contributors', contributors: 1, fields: {} } };
    await commitOn(owner, { plan: putting({ model: totals, rows: [gone] }) });
    expect(await visible(stores, totals)).toEqual({ 'b-1': { orders: 1 } });
    await commitOn(owner, { plan: putting({ model: totals, deletes: ['b-1'] }) });
    expect(await visible(stores, totals)).toEqual({});
    expect(await foundBy(owner, totals, ['b-1'])).toEqual([undefined]);
    await commitOn(owner, { plan: putting({ model: totals, rows: [gone] }) });
    expect(await visible(stores, totals)).toEqual({ 'b-1': { orders: 1 } });
  },

  'names and values come back as they are, by insert and by replace': async (stores) => {
    const owner = await prepared(stores, summaries);
    await commitOn(owner, { plan: putting({ model: summaries, rows: [row('O-1', oddValue), row('O-2', { n: 1 })] }) });
    await commitOn(owner, { plan: putting({ model: summaries, rows: [row('O-2', oddValue, 2)] }) });
    expect(await stores.readModels.readRow(summaries.name, 'O-1')).toEqual(oddValue);
    const replaced = await stores.readModels.readRow(summaries.name, 'O-2');
    expect(replaced).toEqual(oddValue);
    expect(Object.keys(replaced ?? {})).toEqual(Object.keys(oddValue));
    expect(Object.hasOwn(replaced ?? {}, '__proto__')).toBe(true);
    expect('polluted' in {}).toBe(false);
  },

  'any text is an id': async (stores) => {
    const owner = await prepared(stores, summaries);
    const ids = ['', '$x', 'a.b', '__proto__', "'; DROP TABLE x; --", '%_"', '😀', 'ä', '5', 'a'.repeat(2_000)];
    await commitOn(owner, { plan: putting({ model: summaries, rows: ids.map((id) => row(id, { id })) }) });
    for (const id of ids) expect(await stores.readModels.readRow(summaries.name, id)).toEqual({ id });
    const rows = await stores.readModels.readRows(summaries.name, { afterId: undefined, limit: 100 });
    expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  },

  'pages of rows follow each other in the order of ids': async (stores) => {
    const owner = await prepared(stores, summaries);
    const ids = Array.from({ length: 25 }, (_, n) => `O-${String((n * 7) % 25).padStart(2, '0')}`);
    await commitOn(owner, { plan: putting({ model: summaries, rows: ids.map((id) => row(id, { id })) }) });
    const read: string[] = [];
    for (let pages = 0; pages < 3; pages += 1) {
      const page = await stores.readModels.readRows(summaries.name, { afterId: read.at(-1), limit: 10 });
      expect(page).toHaveLength(pages < 2 ? 10 : 5);
      read.push(...page.map(({ id }) => id));
    }
    expect(read).toEqual(ids.toSorted());
  },

  'a row that violates a unique index is refused by name, and nothing is written': async (stores) => {
    const owner = await prepared(stores, accounts);
    await commitOn(owner, { offset: 1, plan: putting({ model: accounts, rows: [row('A-1', { email: 'a@x' })] }) });
    const rows = [row('A-0', { email: 'z@x' }), row('A-2', { email: 'a@x' }), row('A-3', { email: 'c@x' })];
    const result = await owner.commit({ offset: 2, plan: putting({ model: accounts, rows }) });
    expect(result).toMatchObject({
      kind: 'refused',
      refusals: [{ ref: refOfRow('A-2'), model: 'account', id: 'A-2', code: 'ROW_NOT_UNIQUE', isRecoverable: true }],
    });
    expect(result.kind === 'refused' && result.refusals[0]?.message).toMatch(/A-2.*email/);
    expect(Object.keys(await visible(stores, accounts))).toEqual(['A-1']);
    expect(await stands(stores)).toMatchObject({ offset: 1 });
    await commitOn(owner, {
      offset: 2,
      plan: putting({ model: accounts, rows: rows.filter(({ id }) => id !== 'A-2') }),
    });
    expect(Object.keys(await visible(stores, accounts))).toEqual(['A-0', 'A-1', 'A-3']);
  },

  'two rows of one transaction with one unique value are refused': async (stores) => {
    const owner = await prepared(stores, accounts);
    const rows = [row('A-1', { email: 'a@x' }), row('A-2', { email: 'a@x' })];
    const result = await owner.commit({ plan: putting({ model: accounts, rows }) });
    expect(result).toMatchObject({ kind: 'refused', refusals: [{ code: 'ROW_NOT_UNIQUE' }] });
    expect(await visible(stores, accounts)).toEqual({});
    await commitOn(owner, { plan: putting({ model: accounts, rows: rows.slice(0, 1) }) });
  },

  'rows without the field of a unique index do not violate it': async (stores) => {
    const owner = await prepared(stores, accounts);
    const rows = [row('A-1', { name: 'x' }), row('A-2', { name: 'x' }), row('A-3', { address: { city: 'Bern' } })];
    await commitOn(owner, { plan: putting({ model: accounts, rows }) });
    expect(Object.keys(await visible(stores, accounts))).toEqual(['A-1', 'A-2', 'A-3']);
  },

  'a unique value may pass from row to row within one transaction': async (stores) => {
    const owner = await prepared(stores, accounts);
    const write = (...rows: StoredRow[]) => commitOn(owner, { plan: putting({ model: accounts, rows }) });
    await write(row('A-1', { email: 'a@x' }), row('A-2', { email: 'b@x' }));
    await write(row('A-1', { email: 'b@x' }, 2), row('A-2', { email: 'a@x' }, 2));
    expect(await visible(stores, accounts)).toEqual({ 'A-1': { email: 'b@x' }, 'A-2': { email: 'a@x' } });
    await write(row('A-3', { email: 'b@x' }), tombstone('A-1', 3));
    expect(await visible(stores, accounts)).toEqual({ 'A-2': { email: 'a@x' }, 'A-3': { email: 'b@x' } });
    await commitOn(owner, {
      plan: putting({ model: accounts, rows: [row('A-4', { email: 'b@x' })], deletes: ['A-3'] }),
    });
    expect(await visible(stores, accounts)).toEqual({ 'A-2': { email: 'a@x' }, 'A-4': { email: 'b@x' } });
  },

  'a row that is too large is refused by name and size, and nothing is written': async (stores) => {
    const owner = await prepared(stores, summaries);
    const large = row('O-2', { text: 'x'.repeat(15.5 * 1024 * 1024) });
    const rows = [row('O-1', { n: 1 }), large, row('O-3', { n: 3 })];
    const result = await owner.commit({ offset: 2, plan: putting({ model: summaries, rows }) });
    expect(result).toMatchObject({
      kind: 'refused',
      refusals: [
        { ref: refOfRow('O-2'), id: 'O-2', model: summaries.name, code: 'ROW_TOO_LARGE', isRecoverable: false },
      ],
    });
    expect(result.kind === 'refused' && result.refusals[0]?.message).toMatch(/O-2.*\d{8}.*\d{8}/);
    expect(await visible(stores, summaries)).toEqual({});
    expect(await stands(stores)).toMatchObject({ offset: 0, sequence: 0 });
    const fits = row('O-2', { text: 'ü'.repeat(7 * 1024 * 1024) });
    await commitOn(owner, { plan: putting({ model: summaries, rows: [fits] }) });
    expect(await stores.readModels.readRow(summaries.name, 'O-2')).toEqual(fits.value);
  },

  'a source record that is too large is refused by its aggregate and size, and nothing is written': async (stores) => {
    const owner = await prepared(stores, summaries);
    const ref = refOfRow('O-1');
    const held = { [summaries.name]: ['x'.repeat(15.5 * 1024 * 1024)] };
    const sources = [{ ref, version: 1, missing: [], decided: 1, held, contributions: {} }];
    const rows = [row('O-1', { n: 1 })];
    const result = await owner.commit({ offset: 2, plan: putting({ model: summaries, rows, sources }) });
    expect(result).toMatchObject({ kind: 'refused', refusals: [{ ref, code: 'ROW_TOO_LARGE', isRecoverable: false }] });
    expect(await visible(stores, summaries)).toEqual({});
    expect(await stands(stores)).toMatchObject({ offset: 0, sequence: 0 });
  },

  'preparing again keeps the rows': async (stores) => {
    const owner = await prepared(stores, summaries, accounts);
    await commitOn(owner, { plan: putting({ model: summaries, rows: [row('O-1', { n: 1 })] }) });
    await stores.readModels.prepare(scope, summaries);
    expect(await visible(stores, summaries)).toEqual({ 'O-1': { n: 1 } });
    expect(await stores.readModels.listModels()).toEqual(['account', 'order_summary']);
  },

  'a read model of another subscription is refused': async (stores) => {
    await stores.readModels.prepare(scope, summaries);
    const other = { ...scope, subscription: 'Other.onEvent' };
    await expect(stores.readModels.prepare(other, summaries)).rejects.toMatchObject({ code: 'MODEL_HELD' });
  },

  'a read model that is stored as another kind is refused, and stays as it was': async (stores) => {
    const kinds = ['rows', 'moves', 'joined', 'totals'] as const;
    const models = kinds.map((kind): ModelShape => ({ ...accounts, name: `stored_as_${kind}`, kind }));
    const owner = await prepared(stores, ...models);
    const [rows] = models;
    if (rows === undefined) throw new Error('there are kinds');
    await commitOn(owner, { plan: putting({ model: rows, rows: [row('A-1', { email: 'a@b' })] }) });
    for (const model of models) {
      for (const kind of kinds.filter((each) => each !== model.kind)) {
        await expect(stores.readModels.prepare(scope, { ...model, kind, indexes: [] })).rejects.toMatchObject({
          code: 'MODEL_KIND_CHANGED',
          details: { model: model.name, stored: model.kind, declared: kind },
        });
      }
      await stores.readModels.prepare(scope, model);
    }
    expect(await visible(stores, rows)).toEqual({ 'A-1': { email: 'a@b' } });
    const alike = putting({ model: rows, rows: [row('A-2', { email: 'a@b' })] });
    expect(await owner.commit({ plan: alike })).toMatchObject({ kind: 'refused' });
  },

  'a read model nobody prepared has no rows': async (stores) => {
    expect(await stores.readModels.readRow('unheard_of', 'a')).toBeUndefined();
    expect(await stores.readModels.readRows('unheard_of', { afterId: undefined, limit: 10 })).toEqual([]);
    await stores.readModels.prepare(scope, summaries);
    expect(await stores.readModels.listModels()).toEqual([summaries.name]);
  },
};
