import type { Logger } from '../../runtime/logger.ts';

const LINES_MAX = 400;

/** What happened in a run, in order: all of it as one number, and the last of it as text. */
export class Trace {
  readonly #lines: string[] = [];
  #digest = 0x81_1c_9d_c5;
  #count = 0;

  note(line: string): void {
    for (let place = 0; place < line.length; place += 1) {
      this.#digest = Math.imul(this.#digest ^ line.charCodeAt(place), 0x01_00_01_93);
    }
    this.#count += 1;
    this.#lines.push(line);
    if (this.#lines.length > 2 * LINES_MAX) this.#lines.splice(0, LINES_MAX);
  }

  /** Equal for runs in which the same happened in the same order. */
  get digest(): string {
    return `${this.#count}-${(this.#digest >>> 0).toString(16)}`;
  }

  get lastLines(): readonly string[] {
    return this.#lines.slice(-LINES_MAX);
  }
}

/** A logger whose lines are part of the trace. */
export function tracingLogger(note: (line: string) => void): Logger {
  const line = (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    const { reason, error, state } = fields;
    const more = [state, reason, error instanceof Error ? error.message : error].filter((each) => each !== undefined);
    note(`${message} ${more.map(String).join(' ')}`);
  };
  return {
    debug: () => undefined,
    info: line,
    warn: line,
    error: line,
    child: ({ subscription, partition }) => {
      const where = JSON.stringify(subscription ?? partition);
      return tracingLogger((text) => note(`${where}: ${text}`));
    },
  };
}
