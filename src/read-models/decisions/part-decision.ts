import type { Part } from '../guard.ts';
import { ModelKindChangedError } from '../model-error.ts';
import type { RowKey, StoredRow } from '../stored-row.ts';
import type { RowValue, WriteOf } from '../write.ts';
import { type GuardedWrite, isNewer } from './guarded-write.ts';
import { refusal, rowForeign, rowLabel } from './refusal.ts';
import type { RowOutcome } from './row-decision.ts';

type Parts = Readonly<Record<string, Part>>;

/**
 * `joined`: the aggregate's part is replaced by its strictly newer one; the row holds the fields of all live parts and is
 * live while the primary's is. A removed part stays as a tombstone.
 */
export function decidePart(
  found: StoredRow | undefined,
  guarded: GuardedWrite<WriteOf<'part' | 'remove'>>,
): RowOutcome {
  const { ref, aggregate, version, eventIndex, write } = guarded;
  const before = partsOf(found, write);
  const own = partOf(before, aggregate);
  if (own !== undefined) {
    if (own.owner !== ref) return { kind: 'refused', refusal: rowForeign(write, ref, own.owner) };
    if (!isNewer(guarded, own)) return { kind: 'stale' };
  }
  const fields = write.kind === 'part' ? write.fields : undefined;
  const overlap = fields === undefined ? undefined : overlapOf(fields, aggregate, before);
  if (overlap !== undefined) {
    const [field, other, owner] = overlap;
    const message = `${rowLabel(write)} has the field ${JSON.stringify(field)} from ${other} (${owner}) and from ${aggregate} (${ref})`;
    return { kind: 'refused', refusal: refusal(write, ref, { code: 'FIELD_OVERLAP', message }) };
  }
  // In the order of names, so that the row does not tell in which order its parts came.
  const parts = sorted({ ...before, [aggregate]: { owner: ref, version, eventIndex, fields } });
  return { kind: 'stands', row: joinedRow(write, parts) };
}

function joinedRow({ model, id }: RowKey, parts: Parts): StoredRow {
  const primary = model.primary === undefined ? undefined : partOf(parts, model.primary);
  return {
    id,
    isLive: primary?.fields !== undefined,
    value: merged(parts),
    guard: { kind: 'parts', parts },
  };
}

/** Spread defines members rather than assigns them, so that no name of a field means more than its text. */
function merged(parts: Parts): RowValue {
  let value: RowValue = {};
  for (const { fields } of Object.values(parts)) {
    if (fields !== undefined) value = { ...value, ...fields };
  }
  return value;
}

function sorted(parts: Parts): Parts {
  return Object.fromEntries(Object.entries(parts).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function overlapOf(fields: RowValue, aggregate: string, parts: Parts): readonly [string, string, string] | undefined {
  for (const [name, part] of Object.entries(parts)) {
    const other = part.fields;
    if (name === aggregate || other === undefined) continue;
    const field = Object.keys(fields).find((each) => Object.hasOwn(other, each));
    if (field !== undefined) return [field, name, part.owner];
  }
  return undefined;
}

function partOf(parts: Parts, aggregate: string): Part | undefined {
  return Object.hasOwn(parts, aggregate) ? parts[aggregate] : undefined;
}

function partsOf(found: StoredRow | undefined, row: RowKey): Parts {
  if (found === undefined) return {};
  if (found.guard.kind !== 'parts')
    throw new ModelKindChangedError({ model: row.model.name, stored: found.guard.kind, declared: row.model.kind });
  return found.guard.parts;
}
