import type { Clock } from './clock.ts';

/** What work that was not over in time answers. */
export const LATE = Symbol('late');

/** The result of `work`, or `LATE` after `ms`: then it may go on, and nobody hears how it ends. */
export async function within<T>(ms: number, work: Promise<T>, clock: Pick<Clock, 'sleep'>): Promise<T | typeof LATE> {
  const over = new AbortController();
  try {
    return await Promise.race([work, clock.sleep(ms, over.signal).then((): typeof LATE => LATE)]);
  } finally {
    over.abort();
    work.catch(() => undefined);
  }
}
