import { type ErrorOptions, TidemarkError } from '../../runtime/errors.ts';

/**
 * - `BAD_RECORD`: the line is no record, or (strict) no commit.
 * - `VERSION_CONFLICT`: another commit has this version of the aggregate.
 * - `VERSION_GAP`: a version before this one is missing.
 */
export type AppendErrorCode = 'BAD_RECORD' | 'VERSION_CONFLICT' | 'VERSION_GAP';

type AppendErrorOptions = ErrorOptions & {
  readonly code: AppendErrorCode;
  /** 1-based; blank lines count. */
  readonly line: number;
};

/** A line cannot be appended. Nothing of its chunk was stored. */
export class AppendError extends TidemarkError {
  readonly code: AppendErrorCode;
  readonly line: number;
  /** Everything up to this line is stored; 0: nothing. */
  readonly lastStoredLine: number;

  constructor(reason: string, options: AppendErrorOptions & { readonly lastStoredLine?: number }) {
    const { code, line, lastStoredLine = 0 } = options;
    const stored = lastStoredLine === 0 ? 'nothing was stored' : `everything up to line ${lastStoredLine} is stored`;
    super(`Line ${line}: ${reason}; ${stored}.`, {
      ...options,
      details: { ...options.details, line, lastStoredLine, reason },
    });
    this.code = code;
    this.line = line;
    this.lastStoredLine = lastStoredLine;
  }

  /** The same problem, with what an append in several chunks had stored before. */
  after(lastStoredLine: number): AppendError {
    const { code, line, hint, details } = this;
    const reason = String(details['reason']);
    return new AppendError(reason, { code, line, lastStoredLine, details, ...(hint === undefined ? {} : { hint }) });
  }
}
