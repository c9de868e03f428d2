/** The other's release may be on its way: the first retry comes soon. */
const FIRST_MS = 1_000;
const SECOND_MS = 3 * 60_000;
const MAX_MS = 6 * 60 * 60_000;
/** After so many retries in the background an operator must act. */
const RETRIES_MAX = 10;

/**
 * How long after its last failure a recoverable entry is tried again: 1 s, then 3 min doubling to 6 h; `undefined` once
 * it was retried 10 times.
 *
 * @param attempts calls so far, ≥ 1
 */
export function retryDelayMs(attempts: number): number | undefined {
  if (attempts === 1) return FIRST_MS;
  if (attempts > RETRIES_MAX) return undefined;
  return Math.min(SECOND_MS * 2 ** (attempts - 2), MAX_MS);
}
