import type { Writable } from 'node:stream';

/** A stream of the process, as far as it is used here. */
export type OutputStream = Writable & { readonly isTTY?: boolean };

/**
 * Where a command writes: data to `output`, everything else (logs, progress, errors) to `error`. A reader that goes away,
 * as `head` does, is no failure: `closed` aborts and later writes do nothing.
 */
export class Terminal {
  readonly #output: OutputStream;
  readonly #error: OutputStream;
  /** Whether the error stream may be coloured. */
  readonly isColored: boolean;
  readonly #closed = new AbortController();
  #hasLiveLine = false;

  constructor(streams: {
    readonly output: OutputStream;
    readonly error: OutputStream;
    readonly isColorRefused?: boolean;
  }) {
    this.#output = streams.output;
    this.#error = streams.error;
    this.isColored = this.#error.isTTY === true && streams.isColorRefused !== true;
    // Without a listener a closed pipe would end the process with a stack.
    this.#output.on('error', () => this.#closed.abort());
    this.#error.on('error', () => undefined);
  }

  /** Aborts when nobody reads the output any more. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  get isErrorTty(): boolean {
    return this.#error.isTTY === true;
  }

  /** For what draws by itself; see `setLiveLine`. */
  get errorStream(): OutputStream {
    return this.#error;
  }

  /** Writes data as it is. Waits while the reader is slow. */
  async write(text: string): Promise<void> {
    if (this.closed.aborted || this.#output.write(text)) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        this.#output.off('drain', end);
        this.closed.removeEventListener('abort', end);
        resolve();
      };
      this.#output.on('drain', end);
      this.closed.addEventListener('abort', end);
    });
  }

  async writeLine(text: string): Promise<void> {
    await this.write(`${text}\n`);
  }

  /** One JSON value a line. */
  async writeJson(value: unknown): Promise<void> {
    await this.writeLine(toJson(value));
  }

  /** Writes to the error stream; a line that is redrawn there makes room. */
  writeError(text: string): void {
    this.#error.write(this.#hasLiveLine ? `\r\u001B[2K${text}` : text);
  }

  /** Tells that the last line of the error stream is one that is redrawn (a progress bar), or no longer. */
  setLiveLine(isLive: boolean): void {
    this.#hasLiveLine = isLive;
  }

  /** Resolves when everything written so far was handed over. */
  async flushed(): Promise<void> {
    for (const stream of [this.#output, this.#error]) {
      if (stream.writableLength === 0 || stream.destroyed) continue;
      await new Promise<void>((resolve) => {
        stream.write('', () => resolve());
      });
    }
  }
}

/** `JSON.rawJSON` of Node, which the compiler's libraries do not have yet. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

/** JSON with integers of any size as they are; what it has no numbers for (`NaN`) as text. */
export function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_name, inner: unknown) => {
      if (typeof inner === 'bigint') return rawJSON(`${inner}`);
      return typeof inner === 'number' && !Number.isFinite(inner) ? String(inner) : inner;
    },
    indent,
  );
}
