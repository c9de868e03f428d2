import { UnavailableError } from '../runtime/errors.ts';

/** What a pull of a session that was stopped throws: whoever goes on asking must not be answered at once, again and again. */
export function sessionOver(subscription: string): UnavailableError {
  return new UnavailableError(`The session of ${subscription} in the log is over.`, {
    details: { subscription },
    hint: 'Stop the engine before the log is closed.',
  });
}
