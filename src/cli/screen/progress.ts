import { SingleBar } from 'cli-progress';
import type { Clock } from '../../runtime/clock.ts';
import type { Terminal } from './terminal.ts';

/** Long work as people follow it. */
export interface Progress {
  /** Without a total, only what is done is shown. */
  update(done: number, total: number | undefined): void;
  /** Takes the bar away, or writes the last line. */
  stop(): void;
}

export type ProgressOptions = {
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** What is done: `Appending`. */
  readonly verb: string;
  /** What is counted: `commits`. */
  readonly unit: string;
};

/** Between two plain lines where there is no terminal. */
const LINE_INTERVAL_MS = 5_000;

/** A bar with rate on a terminal, else a plain line now and then; on the error stream. */
export function openProgress(options: ProgressOptions): Progress {
  return options.terminal.isErrorTty ? new BarProgress(options) : new LineProgress(options);
}

class BarProgress implements Progress {
  readonly #options: ProgressOptions;
  readonly #bar: SingleBar;
  readonly #startedAtMs: number;
  #startedAt: number | undefined;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#startedAtMs = options.clock.monotonicMs();
    this.#bar = new SingleBar({
      format: `${options.verb} {bar} {percentage} % of {total} ${options.unit}, {rate}/s`,
      stream: options.terminal.errorStream,
      clearOnComplete: true,
      hideCursor: true,
      // Signals are the command's.
      gracefulExit: false,
    });
  }

  update(done: number, total: number | undefined): void {
    if (this.#startedAt === undefined) {
      this.#startedAt = done;
      this.#bar.start(total ?? done, done, { rate: 0 });
      this.#options.terminal.setLiveLine(true);
    }
    const seconds = (this.#options.clock.monotonicMs() - this.#startedAtMs) / 1_000;
    this.#bar.setTotal(total ?? done);
    this.#bar.update(done, { rate: Math.round((done - this.#startedAt) / Math.max(seconds, 0.001)) });
  }

  stop(): void {
    if (this.#startedAt !== undefined) this.#bar.stop();
    this.#options.terminal.setLiveLine(false);
  }
}

class LineProgress implements Progress {
  readonly #options: ProgressOptions;
  #last: { readonly done: number; readonly atMs: number } | undefined;

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  update(done: number, total: number | undefined): void {
    const atMs = this.#options.clock.monotonicMs();
    this.#last ??= { done, atMs };
    const elapsedMs = atMs - this.#last.atMs;
    if (elapsedMs < LINE_INTERVAL_MS) return;
    const rate = Math.round(((done - this.#last.done) * 1_000) / elapsedMs);
    const { terminal, verb, unit } = this.#options;
    const amount = total === undefined ? `${done}` : `${Math.floor((done * 100) / Math.max(total, 1))} % of ${total}`;
    terminal.writeError(`${verb}: ${amount} ${unit}, ${rate}/s\n`);
    this.#last = { done, atMs };
  }

  stop(): void {
    this.#last = undefined;
  }
}
