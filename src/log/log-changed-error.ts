import { TidemarkError } from '../runtime/errors.ts';

/** A topic is another log than the one the positions were taken on. */
export class LogChangedError extends TidemarkError {
  readonly code = 'LOG_CHANGED';
}
