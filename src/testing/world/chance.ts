import { assert } from '../../runtime/assert.ts';
import type { Random } from '../../runtime/random.ts';

/** A whole number in [0, below). */
export function integerBelow(random: Random, below: number): number {
  return Math.floor(random.next() * below);
}

export function pick<Value>(random: Random, values: readonly Value[]): Value {
  assert(values.length > 0, 'there is something to pick from');
  // The length was checked; a value may be undefined itself.
  return values[integerBelow(random, values.length)] as Value;
}

export function isDrawn(random: Random, rate: number): boolean {
  return random.next() < rate;
}
