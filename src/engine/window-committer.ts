import { sequenceOfRef } from '../failures/sequence.ts';
import type { Refusal } from '../read-models/write-plan.ts';
import { assert } from '../runtime/assert.ts';
import type { Clock } from '../runtime/clock.ts';
import type { SubscriptionSettings } from '../subscriptions/settings.ts';
import type { CommitOutcome, Committer } from './committer.ts';
import { type Isolation, isolate } from './isolation.ts';
import type { ParkedSequences } from './parked-sequences.ts';
import { failureAfter, ledgerEntryOf, troubleOfRefusal } from './parking.ts';
import type { PartitionReader } from './partition-reader.ts';
import type { RunEnd } from './run-end.ts';
import type { Window } from './window.ts';

export type WindowCommitterOptions = {
  readonly committer: Committer;
  readonly reader: PartitionReader;
  readonly parked: ParkedSequences;
  readonly isolation: Isolation;
  readonly transaction: SubscriptionSettings['transaction'];
  readonly clock: Clock;
};

/** Commits windows of one partition, and says what a window that does not go through means for the run. */
export class WindowCommitter {
  readonly #options: WindowCommitterOptions;

  constructor(options: WindowCommitterOptions) {
    this.#options = options;
  }

  /** `undefined`: it is committed. */
  async commit(window: Window): Promise<RunEnd | undefined> {
    return this.#endOf(await this.#write(window), window);
  }

  /** A commit of an aggregate that is taken apart: it stands, or becomes the head in the ledger where that has room. */
  async commitAlone(window: Window, { record, commit }: NonNullable<Window['alone']>): Promise<RunEnd | undefined> {
    const { committer, parked, clock } = this.#options;
    const outcome = await this.#write(window);
    const refusal = outcome.kind === 'refused' ? outcome.refusals[0] : undefined;
    if (refusal === undefined) return this.#endOf(outcome, window);
    const stop = parked.bound(sequenceOfRef(commit.refKey));
    if (stop !== undefined) return { kind: 'stopped', ...stop };
    const nowMs = clock.nowMs();
    const failure = failureAfter(troubleOfRefusal(refusal), undefined, nowMs);
    const entry = ledgerEntryOf({ record, commit, sequence: sequenceOfRef(commit.refKey), failure, nowMs });
    const parking = await committer.commit({ plan: undefined, ledger: [{ kind: 'park', entry }], offset: window.next });
    if (parking.kind === 'committed') parked.add(entry.sequence, failure);
    return this.#endOf(parking, window);
  }

  /** Cut by aggregate; only the last part moves the position, so a crash in between repeats the window harmlessly. */
  async #write(window: Window): Promise<CommitOutcome> {
    const { committer, reader, transaction, clock } = this.#options;
    const { liveDocuments, behindDocuments, bytes } = transaction;
    const plans = window.pending.plans({ documents: reader.isAtEnd ? liveDocuments : behindDocuments, bytes });
    for (const plan of plans.slice(0, -1)) {
      const outcome = await committer.commit({ plan, ledger: [], offset: committer.offset });
      if (outcome.kind !== 'committed') return outcome;
      await clock.yield();
    }
    return committer.commit({ plan: plans.at(-1), ledger: window.ledger, offset: window.next });
  }

  #endOf(outcome: CommitOutcome, window: Window): RunEnd | undefined {
    switch (outcome.kind) {
      case 'committed':
        return undefined;
      case 'fenced':
      case 'aborted':
        return outcome;
      case 'refused':
        return { kind: 'isolate', isolation: this.#isolationAfter(outcome.refusals, window) };
    }
  }

  #isolationAfter(refusals: readonly Refusal[], window: Window): Isolation {
    const { isolation } = this.#options;
    const refs = refusals.map(({ ref }) => ref);
    // Each round takes more aggregates apart, or goes further: it ends.
    const isFurther = window.next > isolation.until || refs.some((ref) => !isolation.refs.has(ref));
    assert(isFurther, 'no aggregate that is taken apart is refused in a shared window', { refs });
    return isolate(isolation, refs, window.next);
  }
}
