import type { RefKey } from '../../log/ref.ts';
import { DraftRows } from '../decisions/draft-rows.ts';
import { decidePart } from '../decisions/part-decision.ts';
import { decideHold, decideRelease, decideRow, type RowOutcome } from '../decisions/row-decision.ts';
import { decideSource, type SourceOutcome } from '../decisions/source-decision.ts';
import { decideTotal, type TotalChange } from '../decisions/total-decision.ts';
import type { ModelShape } from '../model-shape.ts';
import type { SourceRecord } from '../source-record.ts';
import { type RowKey, rowKeyOf } from '../stored-row.ts';
import type { Decision, FoundRows, FoundSources, Refusal, WritePlan } from '../write-plan.ts';
import type { PendingAggregate, PendingRow } from './pending-aggregate.ts';

export type PendingPlanOptions = {
  readonly aggregates: readonly PendingAggregate[];
  readonly models: readonly ModelShape[];
  readonly keepsSources: boolean;
};

/** One transaction's share of a window: some aggregates, each with all that it writes. */
export class PendingPlan implements WritePlan {
  readonly #options: PendingPlanOptions;

  constructor(options: PendingPlanOptions) {
    this.#options = options;
  }

  get sources(): readonly RefKey[] {
    return this.#options.keepsSources ? this.#options.aggregates.map(({ ref }) => ref) : [];
  }

  rows(sources: FoundSources): readonly RowKey[] {
    const keys = new Map<string, RowKey>();
    const note = (key: RowKey): void => void keys.set(rowKeyOf(key.model, key.id), key);
    for (const { rows } of this.#options.aggregates) rows.forEach(note);
    for (const outcome of this.#sourceOutcomes(sources)) {
      if (outcome.kind !== 'changed') continue;
      for (const { write } of outcome.releases) note(write);
      for (const { write } of outcome.puts) note(write);
      outcome.totals.forEach(note);
    }
    return [...keys.values()];
  }

  decide(sources: FoundSources, rows: FoundRows): Decision {
    const draft = new DraftRows(rows);
    const refusals: Refusal[] = [];
    const settle = (model: ModelShape, outcome: RowOutcome): void => {
      if (outcome.kind === 'stands') draft.put(model, outcome.row);
      if (outcome.kind === 'refused') refusals.push(outcome.refusal);
    };
    for (const { rows: own } of this.#options.aggregates) {
      for (const row of own) settle(row.model, decidePendingRow(draft, row));
    }
    const changed: Changed[] = [];
    for (const outcome of this.#sourceOutcomes(sources)) {
      if (outcome.kind === 'changed') changed.push(outcome);
      if (outcome.kind === 'refused') refusals.push(outcome.refusal);
    }
    // Let go first: within one transaction a row may pass from one aggregate to another.
    for (const { releases } of changed) {
      for (const each of releases) settle(each.write.model, decideRelease(draft.get(each.write), each));
    }
    for (const { puts } of changed) {
      for (const each of puts) settle(each.write.model, decideHold(draft.get(each.write), each));
    }
    refusals.push(
      ...decideTotals(
        draft,
        changed.flatMap(({ totals }) => totals),
      ),
    );
    if (refusals.length > 0) return { kind: 'refused', refusals };
    const isShared = this.#options.models.some(({ kind }) => kind !== 'rows');
    const rowChanges = isShared ? draft.orderedChanges : draft.changes;
    return { kind: 'changes', rows: rowChanges, sources: changed.map(({ record }) => record) };
  }

  refsOf({ model, id }: RowKey): readonly RefKey[] {
    const isKey = (key: RowKey): boolean => key.id === id && key.model.name === model.name;
    const writers = this.#options.aggregates.filter(
      ({ rows, decidingCall, added }) =>
        rows.some(isKey) ||
        decidingCall?.puts.some(isKey) === true ||
        decidingCall?.contributes.some(isKey) === true ||
        added.values().some(({ adds }) => adds.some(isKey)),
    );
    // A row that nobody writes is one that somebody lets go; the source records say who, and they are not at hand.
    return (writers.length > 0 ? writers : this.#options.aggregates).map(({ ref }) => ref);
  }

  #sourceOutcomes(sources: FoundSources): readonly SourceOutcome[] {
    const { aggregates, models, keepsSources } = this.#options;
    if (!keepsSources) return [];
    return aggregates.map((pending) => decideSource(pending, { source: sources.get(pending.ref), models }));
  }
}

type Changed = Extract<SourceOutcome, { readonly kind: 'changed' }> & { readonly record: SourceRecord };

function decidePendingRow(draft: DraftRows, row: PendingRow): RowOutcome {
  const { ref, aggregate, version, eventIndex, write } = row;
  const writer = { ref, aggregate, version, eventIndex };
  if (row.model.kind !== 'joined' && write.kind !== 'part') return decideRow(draft.get(row), { ...writer, write });
  if (write.kind !== 'put') return decidePart(draft.get(row), { ...writer, write });
  return { kind: 'stale' };
}

function decideTotals(draft: DraftRows, changes: readonly TotalChange[]): readonly Refusal[] {
  const refusals: Refusal[] = [];
  for (const own of Map.groupBy(changes, ({ model, id }) => rowKeyOf(model, id)).values()) {
    const [first] = own;
    if (first === undefined) continue;
    const outcome = decideTotal(draft.get(first), own);
    switch (outcome.kind) {
      case 'stands':
        draft.put(first.model, outcome.row);
        break;
      case 'gone':
        draft.delete(first);
        break;
      case 'refused':
        refusals.push(...outcome.refusals);
        break;
    }
  }
  return refusals;
}
