import { setTimeout as timer } from 'node:timers/promises';
import type { Clock } from '../../../runtime/clock.ts';
import { UnavailableError } from '../../../runtime/errors.ts';

/** What the adapter takes of a clock. What expires in the store does so by the store's own. */
export type StoreClock = Pick<Clock, 'monotonicMs' | 'sleep'>;

/** Node fires a longer timer at once. */
const timerMaxMs = 2_147_483_647;

/** The machine's. */
export const machineClock: StoreClock = {
  monotonicMs: () => performance.now(),
  async sleep(ms, signal) {
    // It rejects on abort, which is no failure.
    await timer(Math.min(ms, timerMaxMs), undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  },
};

const LATE = Symbol('late');

/** When an operation has to be over. */
export class Deadline {
  readonly #clock: StoreClock;
  readonly #endMs: number;
  readonly #what: string;

  constructor(clock: StoreClock, ms: number, what: string) {
    this.#clock = clock;
    this.#endMs = clock.monotonicMs() + ms;
    this.#what = what;
  }

  get leftMs(): number {
    return Math.max(0, this.#endMs - this.#clock.monotonicMs());
  }

  /**
   * The result of `operation`, or `UnavailableError` at the deadline: then the operation may go on, and its outcome is
   * unknown. The driver's own time limits bound a server that answers, not one that is frozen.
   */
  async bound<T>(operation: Promise<T>): Promise<T> {
    const isOver = new AbortController();
    const late = this.#clock.sleep(this.leftMs, isOver.signal).then(() => LATE);
    try {
      const result = await Promise.race([operation, late]);
      if (result === LATE) throw this.error();
      return result as T;
    } finally {
      isOver.abort();
      operation.catch(() => undefined);
    }
  }

  /** Waits, but not beyond the deadline. */
  async sleep(ms: number): Promise<void> {
    await this.#clock.sleep(Math.min(ms, this.leftMs));
  }

  error(cause?: unknown): UnavailableError {
    return new UnavailableError(`MongoDB did not finish in time: ${this.#what}.`, {
      details: { what: this.#what },
      hint: 'It is tried again. If it lasts, look at the load and the health of the server.',
      cause,
    });
  }
}
