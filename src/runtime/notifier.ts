/** Wakes whoever waits for a change of some state. Waiters look at the state themselves. */
export class Notifier {
  readonly #waiting = new Set<() => void>();

  notify(): void {
    // A set that loses members while it is walked skips none of the rest.
    for (const wake of this.#waiting) wake();
  }

  /** Resolves at the next `notify`, or as soon as `signal` aborts. */
  next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      if (signal.aborted) {
        resolve();
        return;
      }
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }
}
