/** The right to hold a large window, until it is given back. */
export type Permit = { readonly release: () => void };

/**
 * Bounds how many large windows a process holds at once, over all subscriptions and partitions, so that its memory does
 * not grow with their number, and one window is committed before the next ones are gathered. First come, first served.
 */
export class WindowPermits {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(permits: number) {
    this.#free = permits;
  }

  /** Waits for its turn; `undefined` on abort. */
  async acquire(signal: AbortSignal): Promise<Permit | undefined> {
    if (signal.aborted) return undefined;
    if (this.#free > 0) {
      this.#free -= 1;
    } else if (!(await this.#turn(signal))) {
      return undefined;
    }
    let isHeld = true;
    return {
      release: () => {
        if (isHeld) this.#giveBack();
        isHeld = false;
      },
    };
  }

  /** True: somebody gave back a permit and it is the caller's. */
  #turn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const granted = (): void => {
        signal.removeEventListener('abort', aborted);
        resolve(true);
      };
      const aborted = (): void => {
        this.#waiting.delete(granted);
        resolve(false);
      };
      this.#waiting.add(granted);
      signal.addEventListener('abort', aborted, { once: true });
    });
  }

  #giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
