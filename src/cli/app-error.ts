import { TidemarkError } from '../runtime/errors.ts';

/** The app module is not there. */
export class AppMissingError extends TidemarkError {
  readonly code = 'APP_MISSING';
}

/** The app module, or something it imports, threw while it was loaded. */
export class AppBrokenError extends TidemarkError {
  readonly code = 'APP_BROKEN';
}

/** The app module exports no worker. */
export class AppWithoutWorkerError extends TidemarkError {
  readonly code = 'APP_WITHOUT_WORKER';
}
