import type { Scope } from '../checkpoints/epoch.ts';
import type { Position, TopicPartition } from '../log/position.ts';
import type { RefKey } from '../log/ref.ts';
import type { LedgerEntry, SequenceKey } from './failure.ts';
import type { HeadRetry } from './head-retry.ts';

/** A sequence of the ledger as its owner keeps it in memory. */
export type ParkedSequence = {
  readonly sequence: SequenceKey;
  readonly entries: number;
  /** When the head is tried again; `undefined` where only followers are left (a drain was interrupted). */
  readonly retry: HeadRetry | undefined;
  /** Whether the head stands in the partition that was asked for; else the owner of its own partition tries it. */
  readonly isHeadHere: boolean;
};

/** A list row: an entry without its payload. */
export type ListedEntry = Omit<LedgerEntry, 'record'> & { readonly scope: Scope; readonly bytes: number };

export type EntryPage = {
  /** At most this many entries. */
  readonly limit: number;
  /** Records of about this many bytes, keys and values; one entry always fits. */
  readonly bytes: number;
};

export type LedgerFilter = { readonly subscription?: string; readonly ref?: RefKey };

/**
 * Reads the failure ledger. It is written only inside fenced transactions (`ReadModelStore.commit`), so that an entry is
 * durable before a checkpoint passes it and nothing lands under an old epoch.
 */
export interface FailureLedger {
  /** The sequences with entries in this partition. Empty on a clean stream. */
  membership(scope: Scope, partition: TopicPartition): Promise<readonly ParkedSequence[]>;
  /** The sequences with entries in other partitions and none in this one. Asked only where partitions were added. */
  elsewhere(scope: Scope, partition: TopicPartition): Promise<readonly SequenceKey[]>;
  /** The first entries of a sequence, in its order. Fewer than there may be; none only where the sequence is empty. */
  entries(scope: Scope, sequence: SequenceKey, page: EntryPage): Promise<readonly LedgerEntry[]>;
  /** The entry at a position. */
  entryAt(scope: Scope, position: Position): Promise<LedgerEntry | undefined>;
  /** Entries ordered by subscription, partition and offset; at most `limit`, without payloads. */
  list(filter: LedgerFilter, limit: number): Promise<readonly ListedEntry[]>;
  /** Number of entries of a subscription. */
  count(scope: Scope): Promise<number>;
}
