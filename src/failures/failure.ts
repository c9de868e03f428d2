import type { Position } from '../log/position.ts';
import type { LogRecord } from '../log/record.ts';
import type { RefKey } from '../log/ref.ts';

/** Why a commit failed, bounded in size (64 KiB in all). */
export type FailureCause = {
  readonly name: string;
  readonly code: string;
  readonly message: string;
  readonly stack: string;
  /** The chain of `cause`, outermost first. */
  readonly causes: readonly { readonly name: string; readonly message: string }[];
};

/**
 * What waits in order in the ledger: `ref:<RefKey>`, or `key:<topic length>:<topic>:<aggregate id>` behind an undecodable record with a
 * readable key, or `at:<partition>:<topic>:<offset>` for one without (it holds nothing up).
 */
export type SequenceKey = string & { readonly SequenceKey: unique symbol };

/** The failure part of an entry. */
export type Failure = {
  readonly cause: FailureCause;
  readonly isRecoverable: boolean;
  /** Calls so far, ≥ 1. */
  readonly attempts: number;
  readonly firstFailedAtMs: number;
  readonly lastFailedAtMs: number;
  /** When the owner tries again by itself; `undefined`: an operator must act. */
  readonly nextRetryAtMs: number | undefined;
};

/**
 * One parked commit. Inside a sequence the order is by version, then position; the first entry is the head. A follower
 * was never tried and has no failure.
 */
export type LedgerEntry = {
  readonly sequence: SequenceKey;
  readonly position: Position;
  /** `undefined` for undecodable records. */
  readonly ref: RefKey | undefined;
  readonly version: number | undefined;
  readonly commitId: string | undefined;
  /** Raw key, value, headers and timestamp: retention of the topic cannot lose it, a retry decodes with today's code. */
  readonly record: LogRecord;
  readonly failure: Failure | undefined;
  readonly parkedAtMs: number;
};

/** A change of the ledger inside a fenced transaction. */
export type LedgerChange =
  /** Stores the entry; a no-op where the position already holds the same commit id and version. */
  | { readonly kind: 'park'; readonly entry: LedgerEntry }
  /** The entry at `position` failed (again); a no-op where it is gone: the owner of another partition drained it. */
  | { readonly kind: 'fail'; readonly position: Position; readonly failure: Failure }
  /** The entry at `position` was handled; a no-op where it is gone. */
  | { readonly kind: 'remove'; readonly position: Position };
