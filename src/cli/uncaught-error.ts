import { messageOf, TidemarkError } from '../runtime/errors.ts';

/** Something was thrown, or rejected, that nobody caught: the process must end, in order. */
export class UncaughtError extends TidemarkError {
  readonly code = 'UNCAUGHT';

  constructor(thrown: unknown) {
    super(`Something was thrown that nobody caught: ${messageOf(thrown)}`, {
      cause: thrown,
      hint: 'Look at the stack in the log; in an app, await every promise.',
    });
  }
}
