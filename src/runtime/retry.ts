import { backoffMs } from './backoff.ts';
import { UnavailableError } from './errors.ts';
import type { Runtime } from './runtime.ts';

export type RetryOptions = {
  readonly runtime: Pick<Runtime, 'clock' | 'random'>;
  readonly signal: AbortSignal;
  /** Told before each wait. */
  readonly onWaiting: (error: UnavailableError) => void;
};

/** Between tries while a store or log is down: from 100 ms, doubling, to 5 s. */
const INITIAL_MS = 100;
const MAX_MS = 5_000;

/** What an operation that was given up on abort answers. */
export const ABORTED = Symbol('aborted');

/**
 * Repeats `operation` while it throws `UnavailableError`, with backoff, until `signal` aborts. Other errors pass. It is
 * tried once in any case, so that a last write at a stop is not lost to the abort itself.
 */
export async function retryWhileUnavailable<T>(
  operation: () => Promise<T>,
  { runtime, signal, onWaiting }: RetryOptions,
): Promise<T | typeof ABORTED> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await operation();
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      if (signal.aborted) return ABORTED;
      onWaiting(error);
      await runtime.clock.sleep(backoffMs({ initialMs: INITIAL_MS, maxMs: MAX_MS, attempt }, runtime.random), signal);
    }
  }
}
