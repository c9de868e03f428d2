import type { RowValue } from '../../../read-models/write.ts';
import { assert } from '../../../runtime/assert.ts';

/**
 * Rows as JSON text. Plain values are plain JSON, so that SQL reads them; what JSON has no word for becomes an object of
 * one member: dates `{"$date": "2026-…Z"}`, bigints `{"$long": "9007199254740993"}`, `{"$double": "NaN" | "Infinity" |
 * "-Infinity"}`. A member of the row's own whose name starts with `$` gets one more `$`, so nothing is ambiguous.
 */
export function encodeRow(row: RowValue): string {
  return JSON.stringify(isPlain(row) ? row : escaped(row));
}

/** Exactly what was encoded. Members named `__proto__` are members like others. */
export function decodeRow(text: string): RowValue {
  const parsed = JSON.parse(text) as RowValue;
  return text.includes('"$') ? (restored(parsed) as RowValue) : parsed;
}

/** The name a member has in the text. */
export function encodeName(name: string): string {
  return name.startsWith('$') ? `$${name}` : name;
}

/** Most rows are plain: they are written without a copy. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.every(isPlain);
  return !(value instanceof Date) && hasPlainMembers(value);
}

function hasPlainMembers(value: object): boolean {
  for (const [name, member] of Object.entries(value)) {
    if (name.startsWith('$') || !isPlain(member)) return false;
  }
  return true;
}

function escaped(value: unknown): unknown {
  if (typeof value === 'bigint') return { $long: String(value) };
  if (typeof value === 'number') return Number.isFinite(value) ? value : { $double: String(value) };
  if (typeof value !== 'object' || value === null) {
    assert(typeof value === 'string' || typeof value === 'boolean' || value === null, 'rows are canonical', {
      type: typeof value,
    });
    return value;
  }
  if (Array.isArray(value)) return value.map(escaped);
  if (value instanceof Date) return { $date: value.toISOString() };
  return withMembers(value, (name, member) => [encodeName(name), escaped(member)]);
}

function restored(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(restored);
  const [first, ...others] = Object.entries(value);
  if (first !== undefined && others.length === 0) {
    const [name, member] = first as [string, unknown];
    if (typeof member === 'string') {
      if (name === '$date') return new Date(member);
      if (name === '$long') return BigInt(member);
      if (name === '$double') return Number(member);
    }
  }
  return withMembers(value, (name, member) => [name.startsWith('$$') ? name.slice(1) : name, restored(member)]);
}

/** A plain object of the changed members; defined, not assigned, because of `__proto__`. */
function withMembers(value: object, change: (name: string, member: unknown) => readonly [string, unknown]): object {
  const copy = {};
  for (const [name, member] of Object.entries(value)) {
    const [newName, newMember] = change(name, member);
    Object.defineProperty(copy, newName, { value: newMember, enumerable: true, writable: true, configurable: true });
  }
  return copy;
}
