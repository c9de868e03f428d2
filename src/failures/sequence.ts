import { type Position, partitionKey } from '../log/position.ts';
import type { RefKey } from '../log/ref.ts';
import type { LedgerEntry, SequenceKey } from './failure.ts';

/** The sequence of one aggregate. */
export function sequenceOfRef(ref: RefKey): SequenceKey {
  return `ref:${ref}` as SequenceKey;
}

/** The sequence behind an undecodable record with a readable key: everything of that aggregate id in the topic. */
export function sequenceOfKey(topic: string, aggregateId: string): SequenceKey {
  return `key:${topic.length}:${topic}:${aggregateId}` as SequenceKey;
}

/** The place of an undecodable record without a readable key. It holds nothing up. */
export function sequenceOfPosition(position: Position): SequenceKey {
  return `at:${partitionKey(position)}:${position.offset}` as SequenceKey;
}

/**
 * What orders a sequence before the position does: the version for those of one aggregate; nothing behind an undecodable
 * record, where the one that came first is the head.
 */
export function rankOf({ sequence, version }: Pick<LedgerEntry, 'sequence' | 'version'>): number {
  return sequence.startsWith('ref:') ? (version ?? 0) : 0;
}
