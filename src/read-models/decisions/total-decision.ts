import type { RefKey } from '../../log/ref.ts';
import { assert } from '../../runtime/assert.ts';
import type { ContributorsGuard } from '../guard.ts';
import { ModelKindChangedError } from '../model-error.ts';
import type { RowKey, StoredRow } from '../stored-row.ts';
import type { Amounts } from '../write.ts';
import type { Refusal } from '../write-plan.ts';
import { ExactSum } from './exact-sum.ts';
import { refusal, rowLabel } from './refusal.ts';

/** What one aggregate changes in one totals row. */
export type TotalChange = RowKey & {
  readonly ref: RefKey;
  readonly kind: 'contribute' | 'add';
  /** What it contributed until now. */
  readonly before: Amounts | undefined;
  readonly after: Amounts | undefined;
};

export type TotalOutcome =
  | { readonly kind: 'stands'; readonly row: StoredRow }
  /** Nobody contributes any more. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[] };

/** Sums per field; `contributors` is `undefined` for rows that are added to. */
type Tally = { contributors: number | undefined; readonly fields: Map<string, FieldTally> };
type FieldTally = { readonly sum: ExactSum; namedBy: number };

/** `totals`: all changes of one row in one transaction. */
export function decideTotal(found: StoredRow | undefined, changes: readonly TotalChange[]): TotalOutcome {
  const [first] = changes;
  assert(first !== undefined, 'a totals row is decided by at least one change');
  const guard = found === undefined ? undefined : contributorsGuardOf(found, first);
  const mixed = refusalsOfMixed(guard, changes);
  if (mixed.length > 0) return { kind: 'refused', refusals: mixed };
  const tally = tallyOf(found, guard, first.kind);
  for (const change of changes) applyChange(tally, change);
  return toOutcome(first, tally, changes);
}

function refusalsOfMixed(guard: ContributorsGuard | undefined, changes: readonly TotalChange[]): readonly Refusal[] {
  const stored = guard === undefined ? undefined : kindOfGuard(guard);
  const isMixed = (kind: TotalChange['kind']): boolean =>
    stored === undefined ? changes.some((change) => change.kind !== kind) : stored !== kind;
  return changes
    .filter(({ kind }) => isMixed(kind))
    .map((change) =>
      refusal(change, change.ref, {
        code: 'TOTALS_MIXED',
        message: `${rowLabel(change)} is both added and contributed to`,
      }),
    );
}

function kindOfGuard({ contributors }: ContributorsGuard): TotalChange['kind'] {
  return contributors === undefined ? 'add' : 'contribute';
}

function tallyOf(found: StoredRow | undefined, guard: ContributorsGuard | undefined, kind: TotalChange['kind']): Tally {
  const contributors = kind === 'add' ? undefined : (guard?.contributors ?? 0);
  const fields = new Map<string, FieldTally>();
  const counts = new Map(Object.entries(guard?.fields ?? {}));
  for (const [field, amount] of Object.entries(found?.value ?? {})) {
    assert(typeof amount === 'number', 'a totals row holds numbers', { field });
    const tally = { sum: new ExactSum(), namedBy: counts.get(field) ?? contributors ?? 0 };
    tally.sum.add(amount);
    fields.set(field, tally);
  }
  return { contributors, fields };
}

function applyChange(tally: Tally, { before, after }: TotalChange): void {
  if (before !== undefined) count(tally, before, -1);
  if (after !== undefined) count(tally, after, 1);
}

/** `sign` 1: the amounts come in, -1: they are taken out again. */
function count(tally: Tally, amounts: Amounts, sign: 1 | -1): void {
  if (tally.contributors !== undefined) tally.contributors += sign;
  for (const [field, amount] of Object.entries(amounts)) {
    let entry = tally.fields.get(field);
    if (entry === undefined) {
      entry = { sum: new ExactSum(), namedBy: 0 };
      tally.fields.set(field, entry);
    }
    entry.sum.add(sign * amount);
    entry.namedBy += sign;
  }
}

function toOutcome(key: RowKey, { contributors, fields }: Tally, changes: readonly TotalChange[]): TotalOutcome {
  assert(contributors === undefined || contributors >= 0, 'a totals row has no fewer contributors than none', {
    model: key.model.name,
    id: key.id,
  });
  if (contributors === 0) return { kind: 'gone' };
  const value: [string, number][] = [];
  const counts: [string, number][] = [];
  // In the order of names, so that the row does not tell in which order its contributions came.
  for (const [field, { sum, namedBy }] of [...fields].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (contributors !== undefined) {
      if (namedBy === 0) continue;
      if (namedBy !== contributors) counts.push([field, namedBy]);
    }
    const total = sum.value;
    if (total === undefined) return { kind: 'refused', refusals: refusalsOfInexact(key, field, changes) };
    value.push([field, total]);
  }
  const guard: ContributorsGuard = { kind: 'contributors', contributors, fields: Object.fromEntries(counts) };
  return { kind: 'stands', row: { id: key.id, isLive: true, value: Object.fromEntries(value), guard } };
}

function refusalsOfInexact(key: RowKey, field: string, changes: readonly TotalChange[]): readonly Refusal[] {
  const message = `${rowLabel(key)}: the total of ${JSON.stringify(field)} is beyond the safe integers or 15 digits`;
  return changes
    .filter(({ before, after }) => names(before, field) || names(after, field))
    .map(({ ref }) => refusal(key, ref, { code: 'TOTAL_INEXACT', message }));
}

function names(amounts: Amounts | undefined, field: string): boolean {
  return amounts !== undefined && Object.hasOwn(amounts, field);
}

function contributorsGuardOf({ guard }: StoredRow, row: RowKey): ContributorsGuard {
  if (guard.kind !== 'contributors')
    throw new ModelKindChangedError({ model: row.model.name, stored: guard.kind, declared: row.model.kind });
  return guard;
}
