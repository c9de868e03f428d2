import { messageOf, TidemarkError, UnavailableError } from '../../../runtime/errors.ts';

/** The file, or the directory it is in, does not allow writing. */
export class FileReadOnlyError extends TidemarkError {
  readonly code = 'FILE_READ_ONLY';
}

/** The file is no database, or its content is broken. */
export class FileDamagedError extends TidemarkError {
  readonly code = 'FILE_DAMAGED';
}

/** The path cannot be used as a database file: a directory, no permission, a file system without shared memory. */
export class FileUnusableError extends TidemarkError {
  readonly code = 'FILE_UNUSABLE';
}

/** Primary result codes of SQLite, as `errcode & 0xff`. */
const genericError = 1;
const busy = 5;
const locked = 6;
const readOnly = 8;
const inputOutput = 10;
const corrupt = 11;
const full = 13;
const cannotOpen = 14;
const tooBig = 18;
const constraint = 19;
const notADatabase = 26;

/** Extended result codes of a violated constraint. */
const uniqueConstraint = 2067;
const primaryKeyConstraint = 1555;

/** The extended result code if SQLite threw it. */
function errcodeOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !('errcode' in thrown)) return undefined;
  return typeof thrown.errcode === 'number' ? thrown.errcode : undefined;
}

function primaryOf(thrown: unknown): number | undefined {
  const errcode = errcodeOf(thrown);
  return errcode === undefined ? undefined : errcode & 0xff;
}

/** Somebody else writes at this moment. */
export function isBusy(thrown: unknown): boolean {
  const primary = primaryOf(thrown);
  return primary === busy || primary === locked;
}

/** A unique index (not the primary key) is violated. */
export function isNotUnique(thrown: unknown): boolean {
  return errcodeOf(thrown) === uniqueConstraint;
}

/**
 * A value was refused and nothing else is wrong with the file. Not the primary key: whoever writes in a transaction has
 * looked for the row in it.
 */
export function isRefusedValue(thrown: unknown): boolean {
  const primary = primaryOf(thrown);
  if (errcodeOf(thrown) === primaryKeyConstraint) return false;
  return primary === constraint || primary === tooBig || primary === genericError;
}

/** What SQLite threw, as an error of this package. Anything else comes back as it is. */
export function translated(thrown: unknown, file: string): unknown {
  const errcode = errcodeOf(thrown);
  if (errcode === undefined) return thrown;
  const said = messageOf(thrown);
  const options = { details: { file, errcode }, cause: thrown };
  switch (errcode & 0xff) {
    case busy:
    case locked:
      return new UnavailableError(`The file ${file} is being written by another process.`, {
        ...options,
        hint: 'It is tried again. If it lasts, look for a process that holds a transaction open on the file.',
      });
    case full:
      return new UnavailableError(`The disk of ${file} is full.`, {
        ...options,
        hint: 'Free some space; the work goes on by itself.',
      });
    case inputOutput:
      return new UnavailableError(`Reading or writing ${file} failed: ${said}.`, {
        ...options,
        hint: 'Look at the disk and the file system. It is tried again.',
      });
    case readOnly:
      return new FileReadOnlyError(`The file ${file} cannot be written: ${said}.`, {
        ...options,
        hint: 'Give the process write permission on the file and on its directory.',
      });
    case corrupt:
    case notADatabase:
      return new FileDamagedError(`The file ${file} is not a sound database: ${said}.`, {
        ...options,
        hint: 'Restore a copy, or name another file. A copy of an open file is sound only when made with VACUUM INTO.',
      });
    case cannotOpen:
      return new FileUnusableError(`The file ${file} cannot be opened: ${said}.`, {
        ...options,
        hint: 'Name a file in a local directory this process may write.',
      });
    default:
      return thrown;
  }
}
