/**
 * Time as the core sees it. Handed in, so that tests and the simulation own it.
 * Callers may assume that `monotonicMs` never goes back; `nowMs` may.
 */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. */
  nowMs(): number;
  /** Milliseconds since an arbitrary instant; for measuring spans. */
  monotonicMs(): number;
  /** Resolves after `ms`, or as soon as `signal` aborts. Never rejects: ask `signal.aborted`. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Lets everything else that is ready run once. */
  yield(): Promise<void>;
}
