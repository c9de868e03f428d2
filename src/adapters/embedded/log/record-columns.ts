import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { RecordHeader, RecordText } from '../../../log/record.ts';
import { wellFormedText } from '../../../log/record-text.ts';
import { assert } from '../../../runtime/assert.ts';
import { textOf } from '../database/columns.ts';

/** Text with a NUL inside goes in as bytes: SQLite's own functions end text there. */
export function toColumn(text: RecordText): SQLInputValue {
  if (text === undefined) return null;
  if (typeof text !== 'string') return text;
  assert(text.isWellFormed(), 'text of the log is well-formed');
  return text.includes('\0') ? Buffer.from(text) : text;
}

export function fromColumn(column: SQLOutputValue | undefined): RecordText {
  if (typeof column === 'string') return column;
  if (column === null || column === undefined) return undefined;
  assert(column instanceof Uint8Array, 'keys and values are text or bytes', { type: typeof column });
  return wellFormedText(column) ?? column;
}

/** `[[name, text], [name, null], [name, {"bytes": base64}], …]`; no headers at all are a null. */
export function toHeadersColumn(headers: readonly RecordHeader[]): SQLInputValue {
  if (headers.length === 0) return null;
  return JSON.stringify(
    headers.map(([name, value]) => {
      if (value === undefined) return [name, null];
      return [name, typeof value === 'string' ? value : { bytes: Buffer.from(value).toString('base64') }];
    }),
  );
}

export function fromHeadersColumn(column: SQLOutputValue | undefined): readonly RecordHeader[] {
  if (column === null) return noHeaders;
  const stored = JSON.parse(textOf(column)) as readonly (readonly [
    string,
    string | null | { readonly bytes: string },
  ])[];
  return stored.map(([name, value]) => {
    if (value === null) return [name, undefined];
    return [name, typeof value === 'string' ? value : Buffer.from(value.bytes, 'base64')];
  });
}

const noHeaders: readonly RecordHeader[] = [];

/** About what a key or value costs in memory. */
export function bytesOfColumn(column: SQLOutputValue | undefined): number {
  if (typeof column === 'string') return column.length;
  return column instanceof Uint8Array ? column.byteLength : 0;
}
