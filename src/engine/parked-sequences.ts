import type { Failure, SequenceKey } from '../failures/failure.ts';
import type { ParkedSequence } from '../failures/failure-ledger.ts';
import { type HeadRetry, retryOf } from '../failures/head-retry.ts';
import { sequenceOfKey, sequenceOfRef } from '../failures/sequence.ts';
import type { Commit } from '../log/commit.ts';
import { PriorityQueue } from '../runtime/priority-queue.ts';
import type { SubscriptionSettings } from '../subscriptions/settings.ts';
import type { Stop } from './window.ts';

/** Parked entries of one subscription in this process, over all partitions. */
export type ParkedCount = { entries: number };

type Parked = {
  readonly entries: number;
  /** `undefined` where the head has not failed yet: it is what an interrupted drain left. */
  readonly retry: HeadRetry | undefined;
  /** Where the head stands in another partition: when it is looked at again. */
  readonly waitsUntilMs: number | undefined;
};

/** A head that may be tried at a time; told once more whenever that changes. */
type Due = { readonly sequence: SequenceKey; readonly atMs: number };

/**
 * The ledger's membership of one owned partition, in memory: on a clean stream the hot path costs one look at an empty
 * map. Loaded at assignment and after each discarded window; changed by the owner alone, in the order of its writes.
 */
export class ParkedSequences {
  readonly #sequences = new Map<SequenceKey, Parked>();
  /** With entries in other partitions only, as loaded; whether they still have them shows when one is drained. */
  readonly #elsewhere: Set<SequenceKey>;
  readonly #bounds: SubscriptionSettings['parked'];
  #count: ParkedCount;
  /** Earliest first. Holds what is out of date too, until that comes up. */
  readonly #due = new PriorityQueue<Due>(({ atMs }) => atMs);
  #entries = 0;
  #firstRetriesAhead = 0;

  constructor(
    { here, elsewhere }: { readonly here: readonly ParkedSequence[]; readonly elsewhere: readonly SequenceKey[] },
    { count, bounds }: { readonly count: ParkedCount; readonly bounds: SubscriptionSettings['parked'] },
  ) {
    this.#elsewhere = new Set(elsewhere);
    this.#bounds = bounds;
    this.#count = { entries: 0 };
    for (const { sequence, entries, retry, isHeadHere } of here) {
      // A head that stands elsewhere is not ours to try, only to look after.
      this.#put(sequence, { entries, retry: isHeadHere ? retry : undefined, waitsUntilMs: undefined });
    }
    // It has those already.
    this.#count = count;
  }

  get entries(): number {
    return this.#entries;
  }

  /** The sequence a commit has to wait in, if any. Behind an undecodable record everything of its key waits. */
  find(commit: Commit, topic: string): SequenceKey | undefined {
    if (this.#sequences.size === 0 && this.#elsewhere.size === 0) return undefined;
    const byKey = sequenceOfKey(topic, commit.ref.id);
    if (this.#has(byKey)) return byKey;
    const byRef = sequenceOfRef(commit.refKey);
    return this.#has(byRef) ? byRef : undefined;
  }

  /** What stops before one more entry is added, if anything does. */
  bound(sequence: SequenceKey): Stop | undefined {
    const inSubscription = this.#count.entries;
    if (inSubscription >= this.#bounds.perSubscription) {
      const reason = `the subscription has ${inSubscription} parked commits, the bound parked.perSubscription`;
      return { whole: 'subscription', reason };
    }
    const inSequence = this.#sequences.get(sequence)?.entries ?? 0;
    if (inSequence >= this.#bounds.perAggregate) {
      const reason = `an aggregate has ${inSequence} parked commits, the bound parked.perAggregate`;
      return { whole: 'partition', reason };
    }
    return undefined;
  }

  /** One more entry; `failure` if it is one that failed itself. */
  add(sequence: SequenceKey, failure: Failure | undefined): void {
    const parked = this.#sequences.get(sequence);
    if (parked === undefined) this.#put(sequence, { entries: 1, retry: retryOf(failure), waitsUntilMs: undefined });
    else this.#put(sequence, { ...parked, entries: parked.entries + 1 });
  }

  /** The head failed again. */
  fail(sequence: SequenceKey, failure: Failure): void {
    const parked = this.#sequences.get(sequence);
    if (parked !== undefined) this.#put(sequence, { ...parked, retry: retryOf(failure), waitsUntilMs: undefined });
  }

  /** The head stands in another partition, whose owner tries it: not before `untilMs` is it looked at again. */
  wait(sequence: SequenceKey, untilMs: number): void {
    const parked = this.#sequences.get(sequence);
    if (parked !== undefined) this.#put(sequence, { ...parked, retry: undefined, waitsUntilMs: untilMs });
  }

  /** The head was handled; what is left has not failed yet. */
  remove(sequence: SequenceKey): void {
    const parked = this.#sequences.get(sequence);
    if (parked === undefined) return;
    const entries = parked.entries - 1;
    this.#put(sequence, entries === 0 ? undefined : { entries, retry: undefined, waitsUntilMs: undefined });
  }

  /** The ledger holds no entry of it any more. */
  clear(sequence: SequenceKey): void {
    this.#elsewhere.delete(sequence);
    if (this.#sequences.has(sequence)) this.#put(sequence, undefined);
  }

  /** A sequence whose head may be tried now. */
  due(nowMs: number): SequenceKey | undefined {
    return this.nextDueAtMs <= nowMs ? this.#due.peek()?.sequence : undefined;
  }

  /** When the next head may be tried; infinite if none ever by itself. */
  get nextDueAtMs(): number {
    for (let next = this.#due.peek(); next !== undefined; next = this.#due.peek()) {
      if (dueAtMs(this.#sequences.get(next.sequence)) === next.atMs) return next.atMs;
      this.#due.pop();
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Whether a head waits for its first retry, which comes within a second or so. */
  get hasFirstRetryAhead(): boolean {
    return this.#firstRetriesAhead > 0;
  }

  #has(sequence: SequenceKey): boolean {
    return this.#sequences.has(sequence) || this.#elsewhere.has(sequence);
  }

  #put(sequence: SequenceKey, parked: Parked | undefined): void {
    const before = this.#sequences.get(sequence);
    const more = (parked?.entries ?? 0) - (before?.entries ?? 0);
    this.#entries += more;
    this.#count.entries += more;
    this.#firstRetriesAhead += Number(isFirstRetryAhead(parked)) - Number(isFirstRetryAhead(before));
    if (parked === undefined) this.#sequences.delete(sequence);
    else this.#sequences.set(sequence, parked);
    const atMs = dueAtMs(parked);
    if (atMs !== dueAtMs(before) && atMs !== Number.POSITIVE_INFINITY) this.#due.push({ sequence, atMs });
  }
}

/** Without a failure the sequence is what an interrupted drain left: it goes on at once. */
function dueAtMs(parked: Parked | undefined): number {
  if (parked === undefined) return Number.POSITIVE_INFINITY;
  if (parked.retry === undefined) return parked.waitsUntilMs ?? 0;
  return parked.retry.nextRetryAtMs ?? Number.POSITIVE_INFINITY;
}

function isFirstRetryAhead(parked: Parked | undefined): boolean {
  if (parked === undefined || (parked.waitsUntilMs ?? 0) > 0) return false;
  const { retry } = parked;
  return retry === undefined || (retry.attempts === 1 && retry.nextRetryAtMs !== undefined);
}
