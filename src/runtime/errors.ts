/** What every error of this package carries besides its message. */
export type ErrorOptions = {
  /** The values the message speaks of, for programs. Never payloads. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** What the reader should do about it. */
  readonly hint?: string;
  readonly cause?: unknown;
};

/**
 * The one base of all operational errors. A class sets its own `code`, a literal that stands in the table of
 * docs/operations.md; the message is one sentence that holds the values.
 */
export abstract class TidemarkError extends Error {
  abstract readonly code: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly hint: string | undefined;

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.details = options.details ?? {};
    this.hint = options.hint;
  }
}

/** The store or the log cannot be reached now. The outcome of what was asked is unknown: repeat it under its guard. */
export class UnavailableError extends TidemarkError {
  readonly code = 'UNAVAILABLE';
}

/** The text of anything that was thrown, whatever it is. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  if (typeof thrown === 'string') return thrown;
  try {
    const text: unknown = JSON.stringify(thrown);
    return typeof text === 'string' ? text : String(thrown);
  } catch {
    return Object.prototype.toString.call(thrown);
  }
}
