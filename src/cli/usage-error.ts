import { TidemarkError } from '../runtime/errors.ts';

/** The command line cannot be understood. */
export class UsageError extends TidemarkError {
  readonly code = 'USAGE';
}
