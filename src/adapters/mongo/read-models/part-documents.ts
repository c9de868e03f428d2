import type { RefKey } from '../../../log/ref.ts';
import type { Part, PartsGuard } from '../../../read-models/guard.ts';
import type { RowValue } from '../../../read-models/write.ts';
import { int64, numberOf } from '../server/int64.ts';

/** One part of a joined row. The values of its fields stand in the row already: here are their names. */
export type PartDocument = {
  readonly source: string;
  readonly owner: string;
  readonly version: bigint;
  readonly event: bigint;
  /** `null` for a part that was removed. */
  readonly fields: readonly string[] | null;
  /** Fields that the row does not show. */
  readonly hidden?: RowValue;
};

export function encodeParts({ parts }: PartsGuard, value: RowValue): readonly PartDocument[] {
  return Object.entries(parts).map(([source, { owner, version, eventIndex, fields }]): PartDocument => {
    const guard = { source, owner, version: int64(version), event: int64(eventIndex) };
    if (fields === undefined) return { ...guard, fields: null };
    const entries = Object.entries(fields);
    const hidden = entries.filter(([name, field]) => !shows(value, name, field));
    const names = entries.filter(([name, field]) => shows(value, name, field)).map(([name]) => name);
    return hidden.length === 0
      ? { ...guard, fields: names }
      : { ...guard, fields: names, hidden: Object.fromEntries(hidden) };
  });
}

export function decodeParts(documents: readonly PartDocument[], value: RowValue): PartsGuard {
  return {
    kind: 'parts',
    parts: Object.fromEntries(documents.map((document) => [document.source, decodePart(document, value)])),
  };
}

function decodePart({ owner, version, event, fields, hidden }: PartDocument, value: RowValue): Part {
  const guard = { owner: owner as RefKey, version: numberOf(version), eventIndex: numberOf(event) };
  if (fields === null) return { ...guard, fields: undefined };
  const shown = Object.fromEntries(fields.map((name) => [name, value[name]]));
  return { ...guard, fields: hidden === undefined ? shown : { ...shown, ...hidden } };
}

function shows(value: RowValue, name: string, field: unknown): boolean {
  return Object.hasOwn(value, name) && Object.is(value[name], field);
}
