import { TidemarkError } from '../runtime/errors.ts';

/** The next offset to handle does not lie between the log's low and its end: commits are gone, or it is another log. */
export class OffsetOutOfRangeError extends TidemarkError {
  readonly code = 'OFFSET_OUT_OF_RANGE';
}
