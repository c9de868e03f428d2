import type { Failure } from './failure.ts';

/** What decides when a head is tried again: all that its owner keeps in memory of its failure. */
export type HeadRetry = Pick<Failure, 'attempts' | 'nextRetryAtMs'>;

/** Without the cause, which may be large, and there may be many. */
export function retryOf(failure: Failure | undefined): HeadRetry | undefined {
  return failure && { attempts: failure.attempts, nextRetryAtMs: failure.nextRetryAtMs };
}
