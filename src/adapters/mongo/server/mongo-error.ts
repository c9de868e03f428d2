import {
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerClosedError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb';
import { messageOf, TidemarkError, UnavailableError } from '../../../runtime/errors.ts';

/** The server refuses for good what was asked of it. */
export class StoreRefusedError extends TidemarkError {
  readonly code = 'STORE_REFUSED';
}

/** The user of the connection may not do what a worker must. */
export class RightsMissingError extends TidemarkError {
  readonly code = 'RIGHTS_MISSING';
}

/** Numbers of the server's errors that more than one place asks for, or that a name explains. */
export const MongoCode = {
  unauthorized: 13,
  authenticationFailed: 18,
  namespaceExists: 48,
  maxTimeExpired: 50,
  indexOptionsConflict: 85,
  indexKeySpecsConflict: 86,
  duplicateKey: 11000,
} as const;

/** Codes by which a server says that it cannot now: shutting down, stepping down, no primary, out of time or space. */
const unavailableCodes: ReadonlySet<unknown> = new Set([
  6, 7, 50, 64, 89, 91, 133, 134, 189, 262, 9001, 10058, 10107, 11600, 11601, 11602, 13388, 13435, 13436, 14031,
]);

/** Codes by which a transaction is told to run again. Most carry a label too; not all do everywhere. */
const conflictCodes: ReadonlySet<unknown> = new Set([24, 112, 225, 244, 246, 251, 267, 290]);

const unavailableClasses = [
  MongoNetworkError,
  MongoServerSelectionError,
  MongoServerClosedError,
  MongoTopologyClosedError,
  MongoNotConnectedError,
  MongoClientClosedError,
  MongoWriteConcernError,
];

/** The server cannot be reached, or nobody knows what came of it. Labels do not decide: they are missing too often. */
function isUnavailable(thrown: unknown): boolean {
  if (!(thrown instanceof MongoError)) return false;
  if (unavailableClasses.some((each) => thrown instanceof each)) return true;
  if (thrown.name === 'MongoWaitQueueTimeoutError' || thrown.name === 'MongoOperationTimeoutError') return true;
  if (thrown.hasErrorLabel('UnknownTransactionCommitResult')) return true;
  // The driver's bulk wraps whatever ended it; without a code it was the connection.
  if (thrown instanceof MongoBulkWriteError && thrown.code === undefined) return true;
  return thrown instanceof MongoServerError && unavailableCodes.has(thrown.code);
}

/** Another transaction was in the way, or the catalog changed: the same again may well succeed. */
export function isConflict(thrown: unknown): boolean {
  if (!(thrown instanceof MongoServerError) || isUnavailable(thrown)) return false;
  return (
    thrown.hasErrorLabel('TransientTransactionError') || conflictCodes.has(thrown.code) || isLostInsertRace(thrown)
  );
}

/** Time ran out while another transaction held the document. */
export function isLocked(thrown: unknown): boolean {
  return hasCode(thrown, MongoCode.maxTimeExpired);
}

export function hasCode(thrown: unknown, code: number): boolean {
  return thrown instanceof MongoServerError && thrown.code === code;
}

/** Somebody else inserted the document meanwhile. A bulk says it in its text only. */
function isLostInsertRace(thrown: unknown): boolean {
  return hasCode(thrown, MongoCode.duplicateKey) && / index: _id_ /.test(messageOf(thrown));
}

/** Which document of an ordered bulk was refused, and why. */
export type RefusedDocument = { readonly index: number; readonly code: number; readonly said: string };

/** The refused document, if that is what a bulk of inserts or replacements ended with. */
export function refusedDocument(thrown: unknown): RefusedDocument | undefined {
  if (!(thrown instanceof MongoBulkWriteError) || isConflict(thrown)) return undefined;
  const [first] = [thrown.writeErrors].flat();
  if (first === undefined) return undefined;
  return { index: first.index, code: first.code, said: first.errmsg ?? messageOf(thrown) };
}

/** The unique index that was violated. */
export function violatedIndex({ code, said }: Pick<RefusedDocument, 'code' | 'said'>): string | undefined {
  return code === MongoCode.duplicateKey ? (/ index: (\S+) dup key/.exec(said)?.[1] ?? said) : undefined;
}

/** What the driver threw, as an error of this package. Anything else comes back as it is. */
export function translated(thrown: unknown, what: string): unknown {
  if (!(thrown instanceof MongoError)) return thrown;
  const said = messageOf(thrown);
  const options = { details: { what, serverCode: thrown.code }, cause: thrown };
  if (isUnavailable(thrown)) {
    return new UnavailableError(`MongoDB cannot be reached, or did not say what came of it (${what}): ${said}.`, {
      ...options,
      hint: 'It is tried again. If it lasts, look whether the server runs and has a primary.',
    });
  }
  if (isConflict(thrown)) {
    return new UnavailableError(`Other writers are in the way in MongoDB (${what}): ${said}.`, {
      ...options,
      hint: 'It is tried again.',
    });
  }
  if (hasCode(thrown, MongoCode.unauthorized)) {
    return new RightsMissingError(`MongoDB does not allow this (${what}): ${said}.`, {
      ...options,
      hint: 'Grant the user of the connection the role readWrite on the database.',
    });
  }
  return new StoreRefusedError(`MongoDB refused this (${what}): ${said}.`, {
    ...options,
    hint: hasCode(thrown, MongoCode.authenticationFailed)
      ? 'Correct user, password and authSource of the URL.'
      : 'Read what the server says; it does the same again until something is changed.',
  });
}
