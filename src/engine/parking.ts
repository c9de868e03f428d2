import type { Failure, FailureCause, LedgerEntry, SequenceKey } from '../failures/failure.ts';
import { failureCauseOf } from '../failures/failure-cause.ts';
import { retryDelayMs } from '../failures/retry-schedule.ts';
import type { Commit } from '../log/commit.ts';
import type { LogRecord } from '../log/record.ts';
import type { Refusal } from '../read-models/write-plan.ts';
import { TidemarkError } from '../runtime/errors.ts';

/** Why a commit did not go through. */
export type Trouble = { readonly cause: FailureCause; readonly isRecoverable: boolean };

/** A pure handler that failed twice: time does not heal it. */
export function troubleOfHandler(thrown: unknown): Trouble {
  return { cause: failureCauseOf(thrown, 'HANDLER_FAILED'), isRecoverable: false };
}

export function troubleOfRefusal({ code, message, isRecoverable }: Refusal): Trouble {
  return { cause: { name: 'Refusal', code, message, stack: '', causes: [] }, isRecoverable };
}

/** A record that is no commit. */
export class UndecodableError extends TidemarkError {
  readonly code = 'UNDECODABLE';
}

export function troubleOfUndecodable(reason: string): Trouble {
  return {
    cause: failureCauseOf(new UndecodableError(`The record is no commit: ${reason}`), 'UNDECODABLE'),
    isRecoverable: false,
  };
}

/** The failure after one more call; `previous` is what stood in the entry before. */
export function failureAfter(trouble: Trouble, previous: Failure | undefined, nowMs: number): Failure {
  const attempts = (previous?.attempts ?? 0) + 1;
  const delayMs = trouble.isRecoverable ? retryDelayMs(attempts) : undefined;
  return {
    cause: trouble.cause,
    isRecoverable: trouble.isRecoverable,
    attempts,
    firstFailedAtMs: previous?.firstFailedAtMs ?? nowMs,
    lastFailedAtMs: nowMs,
    nextRetryAtMs: delayMs === undefined ? undefined : nowMs + delayMs,
  };
}

export type Parking = {
  readonly record: LogRecord;
  readonly commit: Commit | undefined;
  readonly sequence: SequenceKey;
  /** `undefined` for a follower, which was never tried. */
  readonly failure: Failure | undefined;
  readonly nowMs: number;
};

export function ledgerEntryOf({ record, commit, sequence, failure, nowMs }: Parking): LedgerEntry {
  return {
    sequence,
    position: { topic: record.topic, partition: record.partition, offset: record.offset },
    ref: commit?.refKey,
    version: commit?.version,
    commitId: commit?.id,
    record,
    failure,
    parkedAtMs: nowMs,
  };
}

/** About how much memory and room in the ledger a record takes. */
export function bytesOf({ key, value }: LogRecord): number {
  return (key?.length ?? 0) + (value?.length ?? 0);
}
