import type { Random } from './random.ts';

export type Backoff = {
  /** Upper bound after the first attempt, milliseconds; doubles with every further one. */
  readonly initialMs: number;
  /** Upper bound of all waits, milliseconds. */
  readonly maxMs: number;
  /** The attempt that failed, 1-based. */
  readonly attempt: number;
};

/** More doublings reach no other bound, and would make 0 × ∞ of an initial wait of 0. */
const doublingsMax = 1_000;

/**
 * How long to wait before the next attempt: anything between 0 and the bound of this attempt, so that those who failed
 * together do not come back together. Whole milliseconds, never above `maxMs`.
 */
export function backoffMs({ initialMs, maxMs, attempt }: Backoff, random: Random): number {
  const boundMs = Math.min(maxMs, initialMs * 2 ** Math.min(attempt - 1, doublingsMax));
  return Math.floor(random.next() * (Math.floor(boundMs) + 1));
}
