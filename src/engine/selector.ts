import type { SequenceKey } from '../failures/failure.ts';
import { sequenceOfKey, sequenceOfPosition } from '../failures/sequence.ts';
import type { Commit } from '../log/commit.ts';
import type { CommitCodec } from '../log/commit-codec.ts';
import type { LogRecord } from '../log/record.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import type { ParkedSequences } from './parked-sequences.ts';

/** What becomes of a record. */
export type Selected =
  /** Nobody wants it: only the progress moves. */
  | { readonly kind: 'skip' }
  | { readonly kind: 'handle'; readonly commit: Commit }
  /** Its aggregate is parked: it waits behind. */
  | { readonly kind: 'follow'; readonly commit: Commit; readonly sequence: SequenceKey }
  | { readonly kind: 'undecodable'; readonly reason: string; readonly sequence: SequenceKey };

/** Decides interest. Every record is decoded, once: a record that cannot be read is never passed over silently. */
export class Selector {
  readonly #codec: CommitCodec;
  readonly #subscription: Subscription;
  readonly #followed = new Map<string, Set<string>>();

  constructor(codec: CommitCodec, subscription: Subscription) {
    this.#codec = codec;
    this.#subscription = subscription;
    for (const { context, aggregate } of subscription.aggregates) {
      const own = this.#followed.get(context) ?? new Set<string>();
      this.#followed.set(context, own.add(aggregate));
    }
  }

  select(record: LogRecord, parked: ParkedSequences): Selected {
    const decoded = this.#codec.decode(record);
    switch (decoded.kind) {
      case 'tombstone':
        return { kind: 'skip' };
      case 'undecodable': {
        const { aggregateId, reason } = decoded;
        const sequence =
          aggregateId === undefined ? sequenceOfPosition(record) : sequenceOfKey(record.topic, aggregateId);
        return { kind: 'undecodable', reason, sequence };
      }
      case 'commit':
        return this.#selectCommit(decoded.commit, record.topic, parked);
    }
  }

  #selectCommit(commit: Commit, topic: string, parked: ParkedSequences): Selected {
    if (this.#followed.get(commit.ref.context)?.has(commit.ref.aggregate) !== true) return { kind: 'skip' };
    // Where source records are kept every version counts, wanted or not.
    if (!this.#subscription.keepsSources && !this.#subscription.handler.wants(commit)) return { kind: 'skip' };
    const sequence = parked.find(commit, topic);
    return sequence === undefined ? { kind: 'handle', commit } : { kind: 'follow', commit, sequence };
  }
}
