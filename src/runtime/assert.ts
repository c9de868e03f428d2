import { TidemarkError } from './errors.ts';

/** A broken assumption of our own code. The worker stops rather than goes on wrongly. */
export class AssertionError extends TidemarkError {
  readonly code = 'ASSERTION_FAILED';
}

/** States what must be true here. The message says what was assumed. */
export function assert(
  condition: boolean,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): asserts condition {
  if (!condition) {
    throw new AssertionError(`Assumption broken: ${message}`, {
      ...(details === undefined ? {} : { details }),
      hint: 'This is a defect of Tidemark. Please report it with the details.',
    });
  }
}
