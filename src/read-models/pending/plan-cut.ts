import { rowKeyOf } from '../stored-row.ts';
import type { PendingAggregate } from './pending-aggregate.ts';

export type PlanBounds = {
  /** Rows and source records of one transaction. */
  readonly documents: number;
  readonly bytes: number;
};

/** Cuts a window into transactions; what belongs to one aggregate stays together. */
export function cutByAggregate(
  aggregates: Iterable<PendingAggregate>,
  { documents, bytes, keepsSources }: PlanBounds & { readonly keepsSources: boolean },
): readonly (readonly PendingAggregate[])[] {
  const cut: PendingAggregate[][] = [];
  let part: PendingAggregate[] = [];
  let totals = new Set<string>();
  let own = 0;
  let partBytes = 0;
  for (const aggregate of aggregates) {
    const ownHere = ownDocuments(aggregate) + (keepsSources ? 1 : 0);
    const totalsHere = totalsRowsOf(aggregate);
    const documentsThen = own + ownHere + totals.size + totalsHere.filter((key) => !totals.has(key)).length;
    if (part.length > 0 && (documentsThen > documents || partBytes + aggregate.bytes > bytes)) {
      cut.push(part);
      part = [];
      totals = new Set();
      own = 0;
      partBytes = 0;
    }
    part.push(aggregate);
    for (const key of totalsHere) totals.add(key);
    own += ownHere;
    partBytes += aggregate.bytes;
  }
  if (part.length > 0) cut.push(part);
  return cut;
}

/** A joined row counts once for each of its parts, which is once too often at most. */
function ownDocuments({ rows, decidingCall }: PendingAggregate): number {
  return rows.length + (decidingCall?.puts.length ?? 0);
}

/** Totals rows that an aggregate is known to change; others may change the same ones. */
function totalsRowsOf({ decidingCall, added }: PendingAggregate): readonly string[] {
  if (decidingCall === undefined && added.size === 0) return none;
  const keys = new Set<string>();
  for (const { model, id } of decidingCall?.contributes ?? []) keys.add(rowKeyOf(model, id));
  for (const { adds } of added.values()) for (const { model, id } of adds) keys.add(rowKeyOf(model, id));
  return [...keys];
}

const none: readonly string[] = [];
