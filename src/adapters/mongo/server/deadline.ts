import { backoffMs } from '../../../runtime/backoff.ts';
import { UnavailableError } from '../../../runtime/errors.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import { LATE, within } from '../../../runtime/within.ts';

/** What the adapter takes of its surroundings. What expires in the store does so by the store's own clock. */
export type StoreRuntime = Pick<Runtime, 'clock' | 'random'>;

/** Between runs of a transaction after a conflict. */
const INITIAL_MS = 2;
const MAX_MS = 200;

/** When an operation has to be over. */
export class Deadline {
  readonly #runtime: StoreRuntime;
  readonly #endMs: number;
  readonly #what: string;

  constructor(runtime: StoreRuntime, ms: number, what: string) {
    this.#runtime = runtime;
    this.#endMs = runtime.clock.monotonicMs() + ms;
    this.#what = what;
  }

  get leftMs(): number {
    return Math.max(0, this.#endMs - this.#runtime.clock.monotonicMs());
  }

  /**
   * The result of `operation`, or `UnavailableError` at the deadline: then the operation may go on, and its outcome is
   * unknown. The driver's own time limits bound a server that answers, not one that is frozen.
   */
  async bound<T>(operation: Promise<T>): Promise<T> {
    const result = await within(this.leftMs, operation, this.#runtime.clock);
    if (result === LATE) throw this.error();
    return result;
  }

  /** Waits before the next attempt, the longer the more there were, but not beyond the deadline. */
  async backOff(attempt: number): Promise<void> {
    const { clock, random } = this.#runtime;
    const delayMs = backoffMs({ initialMs: INITIAL_MS, maxMs: MAX_MS, attempt }, random);
    await clock.sleep(Math.min(delayMs, this.leftMs));
  }

  error(cause?: unknown): UnavailableError {
    return new UnavailableError(`MongoDB did not finish in time: ${this.#what}.`, {
      details: { what: this.#what },
      hint: 'It is tried again. If it lasts, look at the load and the health of the server.',
      cause,
    });
  }
}
