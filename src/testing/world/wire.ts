import type { Clock } from '../../runtime/clock.ts';
import { UnavailableError } from '../../runtime/errors.ts';
import type { Faults, Operation } from './faults.ts';

export type WireOptions = {
  readonly clock: Clock;
  readonly note: (line: string) => void;
  /** Whether the other side cannot be reached at all now. */
  readonly isDown: (operation: Operation) => boolean;
  readonly faults: Faults;
};

/** Between one process and its stores. Once it is cut, the process hears nothing any more: it is gone. */
export class Wire {
  /** May be changed at any time. */
  faults: Faults;
  readonly #options: WireOptions;
  #isCut = false;

  constructor(options: WireOptions) {
    this.#options = options;
    this.faults = options.faults;
  }

  get isCut(): boolean {
    return this.#isCut;
  }

  cut(): void {
    this.#isCut = true;
  }

  async call<Result>(operation: Operation, run: () => Promise<Result>): Promise<Result> {
    const { clock, isDown } = this.#options;
    await clock.sleep(this.faults.delayMs(operation));
    if (this.#isCut && !this.faults.outlivesSender()) return silence();
    if (isDown(operation)) return this.#fail(operation, 'down');
    const fate = this.faults.fate(operation);
    switch (fate) {
      case 'request lost':
        return this.#fail(operation, fate);
      case 'late':
        this.#carryOutLate(operation, run);
        return this.#fail(operation, fate);
      case 'reply lost':
        await run().catch(() => undefined);
        return this.#fail(operation, fate);
      case 'delivered':
        return this.#answer(operation, run);
    }
  }

  /** A wait of the process: it never ends once the process is gone. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await this.#options.clock.sleep(ms, signal);
    if (this.#isCut) await silence();
  }

  async #answer<Result>(operation: Operation, run: () => Promise<Result>): Promise<Result> {
    const { clock, note } = this.#options;
    try {
      const result = await run();
      note(`${operation} ${digestOf(result)}`);
      return result;
    } finally {
      await clock.sleep(this.faults.delayMs(operation));
      if (this.#isCut) await silence();
    }
  }

  #carryOutLate(operation: Operation, run: () => Promise<unknown>): void {
    const { clock, note } = this.#options;
    void clock
      .sleep(this.faults.lateMs())
      .then(run)
      .then(
        (result) => note(`${operation} carried out late ${digestOf(result)}`),
        () => undefined,
      );
  }

  async #fail(operation: Operation, why: string): Promise<never> {
    const { clock, note } = this.#options;
    note(`${operation} ${why}`);
    await clock.sleep(this.faults.delayMs(operation));
    if (this.#isCut) await silence();
    throw new UnavailableError(`The answer to ${operation} did not come.`);
  }
}

function silence(): Promise<never> {
  return new Promise<never>(() => undefined);
}

/** Enough of a result for two runs to differ where they do. */
function digestOf(result: unknown): string {
  if (typeof result !== 'object' || result === null) return String(result);
  if ('kind' in result) return String(result.kind);
  if ('nextOffset' in result) return String(result.nextOffset);
  return Array.isArray(result) ? String(result.length) : '';
}
