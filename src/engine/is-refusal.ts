import { AssertionError } from '../runtime/assert.ts';
import { TidemarkError, UnavailableError } from '../runtime/errors.ts';

/** Whether a store or log refuses for good: an operator's business, neither an outage nor a mistake of our own. */
export function isRefusal(error: unknown): error is TidemarkError {
  return error instanceof TidemarkError && !(error instanceof UnavailableError) && !(error instanceof AssertionError);
}
