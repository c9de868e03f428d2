import type { Scope } from '../checkpoints/epoch.ts';
import type { LedgerChange, LedgerEntry, SequenceKey } from '../failures/failure.ts';
import type { FailureLedger } from '../failures/failure-ledger.ts';
import type { CommitCodec } from '../log/commit-codec.ts';
import { PendingWrites } from '../read-models/pending-writes.ts';
import type { WritePlan } from '../read-models/write-plan.ts';
import { isAborted } from '../runtime/aborted.ts';
import type { Clock } from '../runtime/clock.ts';
import type { SubscriptionSettings } from '../subscriptions/settings.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import type { CommitOutcome, Committer } from './committer.ts';
import type { ParkedSequences } from './parked-sequences.ts';
import { failureAfter, type Trouble, troubleOfRefusal, troubleOfUndecodable } from './parking.ts';
import { callHandler, handledCommitOf } from './window-filler.ts';

const ENTRIES_PER_PAGE = 100;

export type DrainOptions = {
  readonly scope: Scope;
  readonly subscription: Subscription;
  readonly codec: CommitCodec;
  readonly ledger: FailureLedger;
  readonly committer: Committer;
  readonly parked: ParkedSequences;
  readonly transaction: SubscriptionSettings['transaction'];
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

/** What an entry comes to when it is tried: what to write, or why it failed. */
type Tried =
  | { readonly kind: 'handled'; readonly plan: WritePlan | undefined }
  | { readonly kind: 'failed'; readonly trouble: Trouble };

const DRAINED: CommitOutcome = { kind: 'committed' };

/**
 * Tries a parked sequence in its order, each entry in one transaction with its removal, until it is empty or an entry
 * fails: the rest stays behind that one, with the new cause. Runs between windows of its partition, never beside one, so
 * that the aggregate is live again with no gap and no overlap. A result other than `committed` ends the ownership.
 */
export async function drainSequence(sequence: SequenceKey, options: DrainOptions): Promise<CommitOutcome> {
  const { scope, ledger, parked, signal, clock } = options;
  while (!signal.aborted) {
    const entries = await ledger.entries(scope, sequence, { limit: ENTRIES_PER_PAGE });
    if (entries.length === 0) {
      parked.clear(sequence);
      return DRAINED;
    }
    for (const entry of entries) {
      if (isAborted(signal)) return DRAINED;
      const { outcome, isStuck } = await drainEntry(entry, options);
      if (outcome.kind !== 'committed' || isStuck) return outcome;
    }
    await clock.yield();
  }
  return DRAINED;
}

async function drainEntry(
  entry: LedgerEntry,
  options: DrainOptions,
): Promise<{ readonly outcome: CommitOutcome; readonly isStuck: boolean }> {
  const { parked } = options;
  const tried = tryEntry(entry, options);
  if (tried.kind === 'failed') return { outcome: await keep(entry, tried.trouble, options), isStuck: true };
  const outcome = await write(tried.plan, { kind: 'remove', position: entry.position }, options);
  if (outcome.kind === 'refused') {
    const [refusal] = outcome.refusals;
    const trouble =
      refusal === undefined ? troubleOfUndecodable('refused without a reason') : troubleOfRefusal(refusal);
    return { outcome: await keep(entry, trouble, options), isStuck: true };
  }
  if (outcome.kind === 'committed') parked.remove(entry.sequence);
  return { outcome, isStuck: false };
}

function tryEntry(entry: LedgerEntry, { codec, subscription, transaction }: DrainOptions): Tried {
  const decoded = codec.decode(entry.record);
  if (decoded.kind === 'undecodable') return { kind: 'failed', trouble: troubleOfUndecodable(decoded.reason) };
  if (decoded.kind === 'tombstone') return { kind: 'handled', plan: undefined };
  const { commit } = decoded;
  const handled = callHandler(subscription.handler, commit, { codec, record: entry.record });
  if (handled.kind === 'failed') return handled;
  const pending = new PendingWrites(subscription);
  pending.admit(handledCommitOf(commit, handled.calls, entry.record));
  const [plan] = pending.plans({ documents: transaction.behindDocuments, bytes: transaction.bytes });
  return { kind: 'handled', plan };
}

/** The entry stays, with why it failed now. */
async function keep(entry: LedgerEntry, trouble: Trouble, options: DrainOptions): Promise<CommitOutcome> {
  const failure = failureAfter(trouble, entry.failure, options.clock.nowMs());
  const outcome = await write(undefined, { kind: 'fail', position: entry.position, failure }, options);
  if (outcome.kind === 'committed') options.parked.fail(entry.sequence, failure);
  return outcome;
}

function write(plan: WritePlan | undefined, change: LedgerChange, { committer }: DrainOptions): Promise<CommitOutcome> {
  return committer.commit({ plan, ledger: [change], offset: committer.offset });
}
