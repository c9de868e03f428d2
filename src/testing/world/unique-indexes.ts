import type { IndexShape, ModelShape } from '../../read-models/model-shape.ts';
import type { RowChange, StoredRow } from '../../read-models/stored-row.ts';

/** A row that has what another live row has under a unique index. */
export type NotUnique = { readonly id: string; readonly other: string; readonly fields: string };

/** Rows of a transaction that violate a unique index of the model. A value may go from one row to another in it. */
export function notUnique(
  model: ModelShape,
  stored: ReadonlyMap<string, StoredRow>,
  changes: readonly RowChange[],
): readonly NotUnique[] {
  const unique = model.indexes.filter(({ isUnique }) => isUnique);
  if (unique.length === 0) return [];
  const after = new Map(stored);
  for (const change of changes) after.delete(idOf(change));
  const written = changes.flatMap((change) => (change.kind === 'delete' ? [] : [change.row]));
  return unique.flatMap((index) => violations(index, [...after.values()], written));
}

function violations(
  index: IndexShape,
  before: readonly StoredRow[],
  written: readonly StoredRow[],
): readonly NotUnique[] {
  const owners = new Map<string, string>();
  for (const row of before) {
    const key = keyOf(index, row);
    if (key !== undefined) owners.set(key, row.id);
  }
  return written.flatMap((row) => {
    const key = keyOf(index, row);
    if (key === undefined) return [];
    const other = owners.get(key);
    owners.set(key, other ?? row.id);
    return other === undefined || other === row.id
      ? []
      : [{ id: row.id, other, fields: Object.keys(index.fields).join(', ') }];
  });
}

/** A row that lacks a field of the index, or is not live, is not in it. */
function keyOf({ fields }: IndexShape, { isLive, value }: StoredRow): string | undefined {
  if (!isLive) return undefined;
  const values = Object.keys(fields).map((path) => valueAt(value, path.split('.')));
  return values.some((each) => each === undefined || each === null) ? undefined : JSON.stringify(values);
}

function valueAt(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return valueAt((value as Readonly<Record<string, unknown>>)[name], rest);
}

function idOf(change: RowChange): string {
  return change.kind === 'delete' ? change.id : change.row.id;
}
