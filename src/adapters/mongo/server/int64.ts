import { assert } from '../../../runtime/assert.ts';

/** A whole number as the store keeps it: the driver would write larger ones as doubles. */
export function int64(value: number): bigint {
  return BigInt(value);
}

/** What `int64` stored, as a plain number. */
export function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  assert(typeof value === 'bigint', 'a number is stored as a number', { type: typeof value });
  return Number(value);
}
