import type { Document } from 'mongodb';
import type { RefKey } from '../../../log/ref.ts';
import type { Guard } from '../../../read-models/guard.ts';
import type { ModelKind } from '../../../read-models/model-shape.ts';
import type { StoredRow } from '../../../read-models/stored-row.ts';
import type { RowValue } from '../../../read-models/write.ts';
import { int64, numberOf } from '../server/int64.ts';
import { decodeParts, encodeParts, type PartDocument } from './part-documents.ts';

/** What the store keeps of a row beside its fields. Readers do not see it. */
type RowMark = {
  readonly live: boolean;
  /** `owner` guards. */
  readonly owner?: string;
  readonly version?: bigint;
  readonly event?: bigint;
  /** `parts` guards. */
  readonly parts?: readonly PartDocument[];
  /** `contributors` guards, of rows that are contributed to. */
  readonly contributors?: bigint;
  readonly fields?: Readonly<Record<string, number>>;
  /** Fields of the row whose names the store needs for itself. */
  readonly own?: RowValue;
};

/** A row: its fields stand at the top, so that indexes and readers see them as they are. */
export type RowDocument = { _id: string; _tm: RowMark };

/** The member with the mark. */
export const markField = '_tm';
/** Where the live ones are told from tombstones. */
export const liveField = `${markField}.live`;

const reserved: ReadonlySet<string> = new Set(['_id', markField]);
const noValue = {};

/** Where the store keeps a field of the row; a dot leads into nested objects. */
export function storedPath(field: string): string {
  const [first = ''] = field.split('.', 1);
  return reserved.has(first) ? `${markField}.own.${field}` : field;
}

export function toRowDocument({ id, isLive, value, guard }: StoredRow): RowDocument {
  const own = Object.hasOwn(value, '_id') || Object.hasOwn(value, markField);
  if (!own) return { _id: id, _tm: { live: isLive, ...toMark(guard, value) }, ...value };
  const [kept, fields] = split(value);
  return { _id: id, _tm: { live: isLive, ...toMark(guard, value), own: kept }, ...fields };
}

/** The fields of a row. */
export function valueOf(document: Document): RowValue {
  const { _id, _tm, ...fields } = document as RowDocument;
  return _tm.own === undefined ? fields : { ..._tm.own, ...fields };
}

/** What a plan finds of a row; the value only where sums go on from it. */
export function toStoredRow(kind: ModelKind, document: Document): StoredRow {
  const { _id: id, _tm: mark } = document as RowDocument;
  const value = kind === 'totals' || mark.parts !== undefined ? valueOf(document) : noValue;
  return {
    id,
    isLive: mark.live,
    value: kind === 'totals' ? value : noValue,
    guard: toGuard(mark, value),
  };
}

/** What of a row is read to decide on it. */
export function projectionFor(kind: ModelKind): Document {
  return kind === 'rows' || kind === 'moves' ? { [markField]: 1 } : {};
}

function split(value: RowValue): readonly [RowValue, RowValue] {
  const entries = Object.entries(value);
  // `fromEntries` defines members, so that no name of a field means more than its text.
  return [
    Object.fromEntries(entries.filter(([name]) => reserved.has(name))),
    Object.fromEntries(entries.filter(([name]) => !reserved.has(name))),
  ];
}

function toMark(guard: Guard, value: RowValue): Omit<RowMark, 'live'> {
  switch (guard.kind) {
    case 'owner':
      return { owner: guard.owner, version: int64(guard.version), event: int64(guard.eventIndex) };
    case 'parts':
      return { parts: encodeParts(guard, value) };
    case 'contributors':
      return {
        ...(guard.contributors === undefined ? {} : { contributors: int64(guard.contributors) }),
        ...(Object.keys(guard.fields).length === 0 ? {} : { fields: guard.fields }),
      };
    default:
      return guard satisfies never;
  }
}

/** By what the document holds: a row of a model whose kind was changed tells what it was. */
function toGuard({ owner, version, event, parts, contributors, fields }: RowMark, value: RowValue): Guard {
  if (owner !== undefined) {
    return { kind: 'owner', owner: owner as RefKey, version: numberOf(version), eventIndex: numberOf(event) };
  }
  if (parts !== undefined) return decodeParts(parts, value);
  return {
    kind: 'contributors',
    contributors: contributors === undefined ? undefined : numberOf(contributors),
    fields: fields ?? {},
  };
}
