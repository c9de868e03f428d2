import type { Checkpoint, Run } from '../checkpoints/checkpoint.ts';
import { assert } from '../runtime/assert.ts';

/**
 * How far one residency has come in one partition: the frontier, and what is finished beyond it.
 *
 * The reader says in log order what it takes (`take`) and how far it has read (`advanceTo`); finishing may come in any
 * order. Offsets that were passed and not taken hold no records (control records, compaction) and never hold anything up.
 *
 * Guarantees: the frontier never goes back, and never passes a record that was taken and is not finished. `completed` is
 * ordered, apart, not empty, and beyond the frontier. A restored progress knows what was finished before the restart. A
 * mark counts once, and only for a record taken here: marks of another residency go to their own object and, once that is
 * closed, nowhere.
 *
 * `finish` is O(log n) in the records taken and not passed by the frontier, `take` and `advanceTo` amortised O(1) plus the
 * restored runs they pass; `completed` is O(n), for once per save.
 */
export class Progress {
  /** Offsets taken and not passed by the frontier, ascending; the first is unfinished. Its live part begins at `#head`. */
  #taken: number[] = [];
  /** Whether the record of the same index in `#taken` is finished. */
  #isDone: boolean[] = [];
  #head = 0;
  /** Everything below was taken or holds no record. */
  #reached: number;
  /** Runs of the checkpoint this began with that are not below `#reached`. */
  #restored: readonly Run[];
  /** Stretches of finished records among the taken ones. */
  #doneRuns = 0;
  #isClosed = false;

  constructor({ offset, completed }: Pick<Checkpoint, 'offset' | 'completed'>) {
    this.#reached = offset;
    this.#restored = completed;
    this.#settle();
  }

  /** The next offset to handle: everything below is finished. */
  get frontier(): number {
    return this.#taken[this.#head] ?? this.#reached;
  }

  /** What is finished beyond the frontier. */
  get completed(): readonly Run[] {
    const runs: Run[] = [];
    for (let i = this.#head; i < this.#taken.length; i += 1) {
      if (this.#isDone[i] === true) join(runs, { from: this.#takenAt(i), to: this.#taken[i + 1] ?? this.#reached });
    }
    for (const run of this.#restored) join(runs, run);
    return runs;
  }

  /** Number of runs in `completed`, at most one too high. */
  get runs(): number {
    return this.#doneRuns + this.#restored.length;
  }

  /** Records taken that the frontier has not passed. */
  get ahead(): number {
    return this.#taken.length - this.#head;
  }

  /**
   * The reader took the record at `offset`, and there is none between it and what was reached before. Answers whether it
   * is still to be handled: `false` if it was finished before a restart, or was taken already.
   */
  take(offset: number): boolean {
    assert(Number.isSafeInteger(offset) && offset >= 0, 'an offset is a non-negative integer', { offset });
    if (offset < this.#reached || this.#isClosed) return false;
    const isDone = this.#isRestored(offset);
    if (!isDone || this.ahead > 0) {
      if (isDone && this.#isDone.at(-1) !== true) this.#doneRuns += 1;
      this.#taken.push(offset);
      this.#isDone.push(isDone);
    }
    this.#reach(offset + 1);
    return !isDone;
  }

  /** Everything below `offset` was taken or holds no record. Never moves back. */
  advanceTo(offset: number): void {
    assert(Number.isSafeInteger(offset) && offset >= 0, 'an offset is a non-negative integer', { offset });
    if (!this.#isClosed) this.#reach(offset);
  }

  /** The record at `offset` is finished. Ignored for one that is finished or was not taken here, and after `close`. */
  finish(offset: number): void {
    const index = this.#indexOf(offset);
    if (this.#isClosed || index === undefined || this.#isDone[index] === true) return;
    this.#isDone[index] = true;
    if (index === this.#head) this.#pass();
    else this.#countRunAt(index);
  }

  /** Whether nothing is left to do at `offset`. */
  isFinished(offset: number): boolean {
    if (offset >= this.#reached) return this.#isRestored(offset);
    const index = this.#indexOf(offset);
    return index === undefined || this.#isDone[index] === true;
  }

  /** The partition was lost: from here on nothing changes any more. */
  close(): void {
    this.#isClosed = true;
  }

  #reach(offset: number): void {
    if (offset <= this.#reached) return;
    this.#reached = offset;
    this.#settle();
  }

  /** Drops restored runs that lie behind, and jumps over one where nothing before it is unfinished. */
  #settle(): void {
    for (let [first] = this.#restored; first !== undefined; [first] = this.#restored) {
      if (this.ahead === 0 && first.from <= this.#reached) this.#reached = Math.max(this.#reached, first.to);
      if (first.to > this.#reached) return;
      this.#restored = this.#restored.slice(1);
    }
  }

  /** Moves the head to the next unfinished record. */
  #pass(): void {
    if (this.#isDone[this.#head + 1] === true) this.#doneRuns -= 1;
    while (this.#isDone[this.#head] === true) this.#head += 1;
    // Half of it lies behind: copying the rest costs no more than the marks that passed it.
    if (this.#head > 32 && this.#head * 2 > this.#taken.length) {
      this.#taken = this.#taken.slice(this.#head);
      this.#isDone = this.#isDone.slice(this.#head);
      this.#head = 0;
    }
    this.#settle();
  }

  #countRunAt(index: number): void {
    if (this.#isDone[index - 1] === true) this.#doneRuns -= 1;
    if (this.#isDone[index + 1] === true) this.#doneRuns -= 1;
    this.#doneRuns += 1;
  }

  #isRestored(offset: number): boolean {
    const run = this.#restored.find(({ to }) => offset < to);
    return run !== undefined && run.from <= offset;
  }

  #indexOf(offset: number): number | undefined {
    let low = this.#head;
    let high = this.#taken.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#takenAt(middle) < offset) low = middle + 1;
      else high = middle;
    }
    return this.#taken[low] === offset ? low : undefined;
  }

  #takenAt(index: number): number {
    return this.#taken[index] ?? Number.NaN;
  }
}

/** Adds a run behind the others; one that touches the last is one with it. */
function join(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  if (last !== undefined && last.to >= run.from) runs[runs.length - 1] = { from: last.from, to: run.to };
  else runs.push(run);
}
