import {
  type RefusalReason,
  rowBytesMax,
  rowNotUnique,
  rowRefused,
  rowTooLarge,
} from '../../../read-models/row-refusal.ts';
import type { RowKey } from '../../../read-models/stored-row.ts';
import { messageOf } from '../../../runtime/errors.ts';
import { isNotUnique } from '../database/sqlite-error.ts';
import type { EncodedRow } from './row-table.ts';

/** The reason if the row is larger than a store takes. */
export function tooLarge(row: RowKey, { columns, bytesMax }: EncodedRow): RefusalReason | undefined {
  if (bytesMax <= rowBytesMax) return undefined;
  const bytes = Math.max(...columns.map((column) => (typeof column === 'string' ? Buffer.byteLength(column) : 0)));
  return bytes <= rowBytesMax ? undefined : rowTooLarge(row, bytes, rowBytesMax);
}

/** Why SQLite refused the row. */
export function refusedBy(row: RowKey, thrown: unknown): RefusalReason {
  const said = messageOf(thrown);
  return isNotUnique(thrown) ? rowNotUnique(row, /index '(.*)'/.exec(said)?.[1] ?? said) : rowRefused(row, said);
}
