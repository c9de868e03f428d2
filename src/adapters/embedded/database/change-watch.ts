const pollIntervalMs = 50;

type Waiter = { readonly deadline: number; readonly wake: () => void };

/**
 * Wakes those who wait for something new in the file. Changes made through this connection are told by `changed`; those
 * of other processes are noticed by asking for the file's version every 50 ms, only while somebody waits.
 * A wake-up says "look again", nothing more; none is lost between a look and the `wait` that follows it in the same turn.
 */
export class ChangeWatch {
  readonly #version: () => number;
  readonly #waiters = new Map<string, Set<Waiter>>();
  #seenVersion: number | undefined;
  #timer: { readonly handle: NodeJS.Timeout; readonly dueAt: number } | undefined;
  #isClosed = false;

  /** `version` must change with each commit of another connection. */
  constructor(version: () => number) {
    this.#version = version;
  }

  /** Resolves on a change under `key`, after `ms`, on abort and on close. Never rejects. */
  async wait(key: string, ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#isClosed || ms <= 0) return;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const waiter: Waiter = { deadline: performance.now() + ms, wake: () => resolve(undefined) };
    const waiters = this.#waiters.get(key) ?? new Set();
    this.#waiters.set(key, waiters.add(waiter));
    signal.addEventListener('abort', waiter.wake, { once: true });
    this.#arm(waiter.deadline);
    await promise;
    signal.removeEventListener('abort', waiter.wake);
    waiters.delete(waiter);
    if (waiters.size === 0 && this.#waiters.get(key) === waiters) this.#waiters.delete(key);
    if (this.#waiters.size === 0) this.#disarm();
  }

  /** Wakes those who wait under one of `keys`. */
  changed(keys: Iterable<string>): void {
    for (const key of keys) {
      for (const waiter of this.#waiters.get(key) ?? []) waiter.wake();
    }
  }

  /** Wakes everybody, for good. */
  close(): void {
    this.#isClosed = true;
    this.#disarm();
    this.changed(this.#waiters.keys());
  }

  #arm(deadline: number): void {
    const now = performance.now();
    const dueAt = Math.min(deadline, now + pollIntervalMs);
    if (this.#timer !== undefined && this.#timer.dueAt <= dueAt) return;
    this.#disarm();
    this.#timer = { handle: setTimeout(() => this.#tick(), Math.max(1, Math.ceil(dueAt - now))), dueAt };
  }

  #disarm(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer.handle);
    this.#timer = undefined;
  }

  #hasChanged(): boolean {
    const before = this.#seenVersion;
    try {
      this.#seenVersion = this.#version();
    } catch {
      // Who is woken looks for himself, and meets the error where it can be told.
      return true;
    }
    return this.#seenVersion !== before;
  }

  #tick(): void {
    this.#timer = undefined;
    const isNew = this.#hasChanged();
    const now = performance.now();
    let nextDeadline = Number.POSITIVE_INFINITY;
    for (const waiters of this.#waiters.values()) {
      for (const waiter of waiters) {
        if (isNew || waiter.deadline <= now) waiter.wake();
        else nextDeadline = Math.min(nextDeadline, waiter.deadline);
      }
    }
    if (nextDeadline !== Number.POSITIVE_INFINITY) this.#arm(nextDeadline);
  }
}
