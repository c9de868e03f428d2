import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';

type Timer = { readonly atMs: number; readonly tie: number; readonly order: number; fire: (() => void) | undefined };

export type VirtualClockOptions = {
  /** Decides which of the timers of one instant comes first; without it the one that was set first. */
  readonly random?: Random;
  /** Wall clock at the start, milliseconds since the epoch; default: a fixed day. */
  readonly startMs?: number;
};

const START_MS = Date.UTC(2026, 0, 1);
/** More things than this at one instant, and something goes round in circles. */
const STEPS_PER_INSTANT_MAX = 50_000;

/**
 * Time that passes only when a test says so: timers run in their order, and between two of them all that has become ready
 * runs to its end. With one seed everything that waits by this clock alone happens in one order.
 */
export class VirtualClock implements Clock {
  readonly #startMs: number;
  readonly #random: Random | undefined;
  /** Latest first, so that the next one is taken from the end. */
  readonly #timers: Timer[] = [];
  #elapsedMs = 0;
  #skewMs = 0;
  #order = 0;
  #stepsNow = 0;

  constructor({ random, startMs = START_MS }: VirtualClockOptions = {}) {
    this.#random = random;
    this.#startMs = startMs;
  }

  nowMs(): number {
    return this.#startMs + this.#elapsedMs + this.#skewMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const end = (): void => {
        timer.fire = undefined;
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = this.#set(Math.max(0, ms), end);
      signal?.addEventListener('abort', end);
    });
  }

  yield(): Promise<void> {
    return this.sleep(0);
  }

  /** Calls `callback` after `ms`. */
  at(ms: number, callback: () => void): void {
    this.#set(ms, callback);
  }

  /** Sets the wall clock forward or back; timers do not notice. */
  jump(ms: number): void {
    this.#skewMs += ms;
  }

  /** Lets `ms` pass, with all that happens in them. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#elapsedMs + ms;
    await nextTurn();
    while (this.#step(untilMs)) await nextTurn();
    this.#elapsedMs = untilMs;
  }

  /**
   * Lets time pass until `promise` is settled, and gives what it gives. Throws if that takes more than `withinMs` (default
   * one hour), or if nothing is left that could happen.
   */
  async runUntil<T>(promise: Promise<T>, withinMs = 3_600_000): Promise<T> {
    let isOpen = true;
    const settle = (): void => {
      isOpen = false;
    };
    promise.then(settle, settle);
    await this.runWhile(() => isOpen, withinMs);
    return promise;
  }

  /** Lets time pass as long as `isOpen` says so; asked after each thing that happens. Throws like `runUntil`. */
  async runWhile(isOpen: () => boolean, withinMs = 3_600_000): Promise<void> {
    const untilMs = this.#elapsedMs + withinMs;
    await nextTurn();
    while (isOpen()) {
      if (!this.#step(untilMs)) throw new Error(`Not reached after ${withinMs} ms of virtual time.`);
      await nextTurn();
    }
  }

  #set(ms: number, fire: () => void): Timer {
    const timer = { atMs: this.#elapsedMs + ms, tie: this.#random?.next() ?? 0, order: (this.#order += 1), fire };
    let low = 0;
    let high = this.#timers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#timers[middle];
      if (other !== undefined && isBefore(timer, other)) low = middle + 1;
      else high = middle;
    }
    this.#timers.splice(low, 0, timer);
    return timer;
  }

  /** Lets the next thing happen, if it does by then. */
  #step(untilMs: number): boolean {
    for (;;) {
      const next = this.#timers.at(-1);
      if (next === undefined || next.atMs > untilMs) return false;
      this.#timers.pop();
      if (next.fire === undefined) continue;
      this.#stepsNow = next.atMs > this.#elapsedMs ? 0 : this.#stepsNow + 1;
      if (this.#stepsNow > STEPS_PER_INSTANT_MAX) throw new Error(`Time stands still at ${this.#elapsedMs} ms.`);
      this.#elapsedMs = Math.max(this.#elapsedMs, next.atMs);
      next.fire();
      return true;
    }
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  if (a.atMs !== b.atMs) return a.atMs < b.atMs;
  return a.tie === b.tie ? a.order < b.order : a.tie < b.tie;
}

/** Whatever is ready runs to its end before this resolves: only timers of this clock are waited for in the world. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
