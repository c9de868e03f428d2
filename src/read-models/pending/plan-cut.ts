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
  let rows = new Set<string>();
  let partBytes = 0;
  for (const aggregate of aggregates) {
    const own = rowsOf(aggregate);
    const more = own.isSubsetOf(rows) ? 0 : own.difference(rows).size;
    const documentsThen = rows.size + more + (keepsSources ? part.length + 1 : 0);
    if (part.length > 0 && (documentsThen > documents || partBytes + aggregate.bytes > bytes)) {
      cut.push(part);
      part = [];
      rows = new Set();
      partBytes = 0;
    }
    part.push(aggregate);
    for (const key of own) rows.add(key);
    partBytes += aggregate.bytes;
  }
  if (part.length > 0) cut.push(part);
  return cut;
}

/** The rows an aggregate is known to write. */
function rowsOf({ rows, decidingCall, added }: PendingAggregate): Set<string> {
  const keys = new Set<string>();
  for (const { model, id } of rows) keys.add(rowKeyOf(model, id));
  for (const { model, id } of decidingCall?.puts ?? []) keys.add(rowKeyOf(model, id));
  for (const { model, id } of decidingCall?.contributes ?? []) keys.add(rowKeyOf(model, id));
  for (const { adds } of added.values()) for (const { model, id } of adds) keys.add(rowKeyOf(model, id));
  return keys;
}
