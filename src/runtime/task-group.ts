import type { Logger } from './logger.ts';

/**
 * Background work that somebody awaits. The first failure aborts `signal` and is what `failed` rejects with; the other
 * tasks see the abort and end. `settled` waits for all of them, also for those added meanwhile.
 */
export class TaskGroup {
  readonly #controller = new AbortController();
  readonly #running = new Set<Promise<void>>();
  readonly #logger: Logger;
  readonly #failure = Promise.withResolvers<never>();

  constructor(logger: Logger) {
    this.#logger = logger;
    // Somebody who never asks for `failed` must not make the process end by an unhandled rejection.
    this.#failure.promise.catch(() => undefined);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Rejects with the first failure; never resolves. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  run(name: string, task: (signal: AbortSignal) => Promise<void>): void {
    const running = task(this.#controller.signal)
      .catch((error: unknown) => {
        this.#logger.error('A background task failed.', { task: name, error });
        this.#failure.reject(error);
        this.#controller.abort();
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  abort(): void {
    this.#controller.abort();
  }

  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
