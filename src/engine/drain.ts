import type { Scope } from '../checkpoints/epoch.ts';
import type { LedgerEntry, SequenceKey } from '../failures/failure.ts';
import type { FailureLedger } from '../failures/failure-ledger.ts';
import type { CommitCodec } from '../log/commit-codec.ts';
import type { HandledCommit } from '../read-models/handled-commit.ts';
import { PendingWrites } from '../read-models/pending-writes.ts';
import type { Refusal, WritePlan } from '../read-models/write-plan.ts';
import { isAborted } from '../runtime/aborted.ts';
import { assert } from '../runtime/assert.ts';
import type { Clock } from '../runtime/clock.ts';
import type { SubscriptionSettings } from '../subscriptions/settings.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import type { CommitOutcome, Committer } from './committer.ts';
import type { ParkedSequences } from './parked-sequences.ts';
import { failureAfter, type Trouble, troubleOfRefusal, troubleOfUndecodable } from './parking.ts';
import { callHandler, handledCommitOf } from './window-filler.ts';

/** What is read of a sequence at once. */
const PAGE = { limit: 100, bytes: 8 * 1024 * 1024 };
/** After so long the partition's records have a turn; the rest of the sequence comes after them. */
const TURN_MS = 250;
/** How long a sequence whose head stands in another partition is left to the owner of that one. */
const ELSEWHERE_MS = 5_000;

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

/** What an entry comes to when it is tried: what to write, or why it failed. Nothing to write: the record is no commit. */
type Tried =
  | { readonly kind: 'handled'; readonly handled: HandledCommit | undefined }
  | { readonly kind: 'failed'; readonly trouble: Trouble };

type Drained = { readonly outcome: CommitOutcome; readonly isStuck: boolean };

const DRAINED: CommitOutcome = { kind: 'committed' };
const REFUSED: CommitOutcome = { kind: 'refused', refusals: [] };

/**
 * Tries a parked sequence in its order, each entry in one transaction with its removal, until it is empty, an entry fails
 * (the rest stays behind that one, with the new cause) or its turn is over. Runs between windows of its partition, never beside one, so
 * that the aggregate is live again with no gap and no overlap. An entry of another partition is left to its owner. A result other than `committed` ends the ownership.
 */
export async function drainSequence(sequence: SequenceKey, options: DrainOptions): Promise<CommitOutcome> {
  const { scope, ledger, parked, signal, clock } = options;
  const startedMs = clock.monotonicMs();
  while (!signal.aborted && clock.monotonicMs() - startedMs < TURN_MS) {
    const entries = await ledger.entries(scope, sequence, PAGE);
    if (entries.length === 0) {
      parked.clear(sequence);
      return DRAINED;
    }
    const { outcome, isStuck } = await drainPage(entries, options);
    if (outcome.kind !== 'committed' || isStuck) return outcome;
    await clock.yield();
  }
  return DRAINED;
}

async function drainPage(entries: readonly LedgerEntry[], options: DrainOptions): Promise<Drained> {
  const { parked, signal, committer, clock } = options;
  for (const [place, entry] of entries.entries()) {
    if (isAborted(signal)) break;
    if (!committer.owns(entry.position)) {
      parked.wait(entry.sequence, clock.nowMs() + ELSEWHERE_MS);
      return { outcome: DRAINED, isStuck: true };
    }
    const tried = tryEntry(entry, options);
    if (tried.kind === 'failed') return keep(entry, tried.trouble, options);
    const outcome = await write(planOf([tried], options), [entry], options);
    if (outcome.kind === 'refused') return drainTogether(entries.slice(place), outcome.refusals[0], options);
    if (outcome.kind !== 'committed') return { outcome, isStuck: true };
    parked.remove(entry.sequence);
  }
  return { outcome: DRAINED, isStuck: false };
}

/**
 * The head is refused. What it is refused for may have passed on since, over partitions that are read at their own speed,
 * and the commits behind the head let go of it: all of them as one, as they would have been in one window. Those of other
 * partitions too: while the head is here, nobody else tries them.
 */
async function drainTogether(
  entries: readonly LedgerEntry[],
  refusal: Refusal | undefined,
  options: DrainOptions,
): Promise<Drained> {
  const [head] = entries;
  assert(head !== undefined && refusal !== undefined, 'a head is refused for a reason');
  const taken: LedgerEntry[] = [];
  const tries: Tried[] = [];
  for (const entry of entries) {
    const tried = tryEntry(entry, options);
    if (tried.kind === 'failed' || entry.ref !== head.ref) break;
    taken.push(entry);
    tries.push(tried);
  }
  const outcome = taken.length < 2 ? REFUSED : await write(planOf(tries, options), taken, options);
  if (outcome.kind === 'refused') return keep(head, troubleOfRefusal(refusal), options);
  if (outcome.kind === 'committed') for (const { sequence } of taken) options.parked.remove(sequence);
  return { outcome, isStuck: false };
}

function tryEntry(entry: LedgerEntry, { codec, subscription }: DrainOptions): Tried {
  const { record } = entry;
  const decoded = codec.decode(record);
  if (decoded.kind === 'undecodable') return { kind: 'failed', trouble: troubleOfUndecodable(decoded.reason) };
  if (decoded.kind === 'tombstone') return { kind: 'handled', handled: undefined };
  const { commit } = decoded;
  const result = callHandler(subscription.handler, commit, { codec, record });
  if (result.kind === 'failed') return result;
  return { kind: 'handled', handled: handledCommitOf(commit, result.calls, record) };
}

/** The writes of commits of one aggregate, in one transaction. */
function planOf(tries: readonly Tried[], { subscription, transaction }: DrainOptions): WritePlan | undefined {
  const pending = new PendingWrites(subscription);
  for (const tried of tries) {
    if (tried.kind === 'handled' && tried.handled !== undefined) pending.admit(tried.handled);
  }
  return pending.plans({ documents: transaction.behindDocuments, bytes: transaction.bytes })[0];
}

/** The entry stays, with why it failed now. */
async function keep(entry: LedgerEntry, trouble: Trouble, options: DrainOptions): Promise<Drained> {
  const { committer, parked, clock } = options;
  const failure = failureAfter(trouble, entry.failure, clock.nowMs());
  const change = { kind: 'fail', position: entry.position, failure } as const;
  const outcome = await committer.commit({ plan: undefined, ledger: [change], offset: committer.offset });
  if (outcome.kind === 'committed') parked.fail(entry.sequence, failure);
  return { outcome, isStuck: true };
}

/** Writes a plan and takes its entries out of the ledger. */
function write(
  plan: WritePlan | undefined,
  entries: readonly LedgerEntry[],
  { committer }: DrainOptions,
): Promise<CommitOutcome> {
  const ledger = entries.map(({ position }) => ({ kind: 'remove', position }) as const);
  return committer.commit({ plan, ledger, offset: committer.offset });
}
