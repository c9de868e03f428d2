import { TidemarkError } from '../runtime/errors.ts';

/** What the process ends with. */
export const exitCodes = {
  done: 0,
  /** The command worked and found something that needs somebody; also every failure that is none of the others. */
  found: 1,
  usage: 2,
  config: 3,
  unreachable: 4,
  refused: 5,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** By error code; what is not here ends with `found`. */
const byErrorCode: Readonly<Record<string, ExitCode>> = {
  USAGE: exitCodes.usage,
  MODEL_UNKNOWN: exitCodes.usage,
  ROW_ID_INVALID: exitCodes.usage,
  CONFIG_INVALID: exitCodes.config,
  CONFIG_UNREADABLE: exitCodes.config,
  APP_MISSING: exitCodes.config,
  APP_BROKEN: exitCodes.config,
  APP_WITHOUT_WORKER: exitCodes.config,
  DEFINITION_INVALID: exitCodes.config,
  UNAVAILABLE: exitCodes.unreachable,
  STORE_REFUSED: exitCodes.unreachable,
  LOG_REFUSED: exitCodes.unreachable,
  FILE_MISSING: exitCodes.unreachable,
  FILE_UNUSABLE: exitCodes.unreachable,
  FILE_READ_ONLY: exitCodes.unreachable,
  FILE_DAMAGED: exitCodes.unreachable,
  FILE_HELD: exitCodes.refused,
  FILE_FOREIGN: exitCodes.refused,
  SCHEMA_NEWER: exitCodes.refused,
  DATABASE_FOREIGN: exitCodes.refused,
  STANDALONE_SERVER: exitCodes.refused,
  SERVER_TOO_OLD: exitCodes.refused,
  RIGHTS_MISSING: exitCodes.refused,
  LOG_UNSUPPORTED: exitCodes.refused,
  TOPIC_MISSING: exitCodes.refused,
  MODEL_HELD: exitCodes.refused,
  MODEL_KIND_CHANGED: exitCodes.refused,
};

export function exitCodeOf(error: unknown): ExitCode {
  return error instanceof TidemarkError ? exitCodeOfError(error.code) : exitCodes.found;
}

export function exitCodeOfError(code: string): ExitCode {
  return byErrorCode[code] ?? exitCodes.found;
}
