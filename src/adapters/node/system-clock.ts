import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../runtime/clock.ts';

/** Node fires a longer timer at once. */
const TIMER_MAX_MS = 2_147_483_647;

/** The time of the machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    const until = performance.now() + ms;
    for (let leftMs = ms; leftMs > 0 && !isAborted(signal); leftMs = until - performance.now()) {
      await timer(Math.min(Math.ceil(leftMs), TIMER_MAX_MS), signal);
    }
  },
  async yield() {
    await nextTurn();
  },
};

/** A call, since the signal may abort while we wait. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted ?? false;
}

function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(running);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const running = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}
