import type { Failure, SequenceKey } from '../failures/failure.ts';
import type { ParkedSequence } from '../failures/failure-ledger.ts';
import { sequenceOfKey, sequenceOfRef } from '../failures/sequence.ts';
import type { Commit } from '../log/commit.ts';

/** Parked entries of one subscription in this process, over all partitions. */
export type ParkedCount = { entries: number };

type Parked = { entries: number; failure: Failure | undefined; waitsUntilMs: number };

/**
 * The ledger's membership of one owned partition, in memory: on a clean stream the hot path costs one look at an empty
 * map. Loaded at assignment and after each discarded window; changed by the owner alone, in the order of its writes.
 */
export class ParkedSequences {
  readonly #sequences = new Map<SequenceKey, Parked>();
  /** With entries in other partitions only, as loaded; whether they still have them shows when one is drained. */
  readonly #elsewhere: Set<SequenceKey>;
  readonly #count: ParkedCount;
  #entries = 0;
  /** Found once until a head changes: it is asked for at every window. */
  #nextDueAtMs: number | undefined;

  constructor(loaded: readonly ParkedSequence[], elsewhere: readonly SequenceKey[], count: ParkedCount) {
    this.#elsewhere = new Set(elsewhere);
    this.#count = count;
    for (const { sequence, entries, failure, isHeadHere } of loaded) {
      // A head that stands elsewhere is not ours to try, only to look after.
      this.#sequences.set(sequence, { entries, failure: isHeadHere ? failure : undefined, waitsUntilMs: 0 });
      this.#entries += entries;
    }
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

  entriesOf(sequence: SequenceKey): number {
    return this.#sequences.get(sequence)?.entries ?? 0;
  }

  /** One more entry; `failure` if it is one that failed itself. */
  add(sequence: SequenceKey, failure: Failure | undefined): void {
    const parked = this.#sequences.get(sequence);
    if (parked === undefined) {
      this.#sequences.set(sequence, { entries: 1, failure, waitsUntilMs: 0 });
      this.#nextDueAtMs = undefined;
    } else {
      parked.entries += 1;
    }
    this.#entries += 1;
    this.#count.entries += 1;
  }

  /** The head failed again. */
  fail(sequence: SequenceKey, failure: Failure): void {
    const parked = this.#sequences.get(sequence);
    if (parked === undefined) return;
    parked.failure = failure;
    this.#nextDueAtMs = undefined;
  }

  /** The head stands in another partition, whose owner tries it: not before `untilMs` is it looked at again. */
  wait(sequence: SequenceKey, untilMs: number): void {
    const parked = this.#sequences.get(sequence);
    if (parked === undefined) return;
    parked.failure = undefined;
    parked.waitsUntilMs = untilMs;
    this.#nextDueAtMs = undefined;
  }

  /** The head was handled; what is left has not failed yet. */
  remove(sequence: SequenceKey): void {
    const parked = this.#sequences.get(sequence);
    if (parked === undefined) return;
    parked.entries -= 1;
    parked.failure = undefined;
    parked.waitsUntilMs = 0;
    this.#nextDueAtMs = undefined;
    this.#entries -= 1;
    this.#count.entries -= 1;
    if (parked.entries <= 0) this.#sequences.delete(sequence);
  }

  /** The ledger holds no entry of it any more. */
  clear(sequence: SequenceKey): void {
    this.#elsewhere.delete(sequence);
    const parked = this.#sequences.get(sequence);
    if (parked === undefined) return;
    this.#entries -= parked.entries;
    this.#count.entries -= parked.entries;
    this.#sequences.delete(sequence);
    this.#nextDueAtMs = undefined;
  }

  /** A sequence whose head may be tried now. */
  due(nowMs: number): SequenceKey | undefined {
    if (this.nextDueAtMs > nowMs) return undefined;
    for (const [sequence, parked] of this.#sequences) {
      if (dueAtMs(parked) <= nowMs) return sequence;
    }
    return undefined;
  }

  /** When the next head may be tried; infinite if none ever by itself. */
  get nextDueAtMs(): number {
    if (this.#nextDueAtMs === undefined) {
      this.#nextDueAtMs = Number.POSITIVE_INFINITY;
      for (const parked of this.#sequences.values()) {
        this.#nextDueAtMs = Math.min(this.#nextDueAtMs, dueAtMs(parked));
      }
    }
    return this.#nextDueAtMs;
  }

  /** Whether a head waits for its first retry, which comes within a second or so. */
  get hasFirstRetryAhead(): boolean {
    for (const { failure, waitsUntilMs } of this.#sequences.values()) {
      if (waitsUntilMs > 0) continue;
      if (failure === undefined || (failure.attempts === 1 && failure.nextRetryAtMs !== undefined)) return true;
    }
    return false;
  }

  #has(sequence: SequenceKey): boolean {
    return this.#sequences.has(sequence) || this.#elsewhere.has(sequence);
  }
}

/** Without a failure the sequence is what an interrupted drain left: it goes on at once. */
function dueAtMs({ failure, waitsUntilMs }: Parked): number {
  if (failure === undefined) return waitsUntilMs;
  return failure.nextRetryAtMs ?? Number.POSITIVE_INFINITY;
}
