import type { LogBatch, PartitionBounds, PullLimits } from '../../../log/log-source.ts';
import type { Position, TopicPartition } from '../../../log/position.ts';
import type { UnavailableError } from '../../../runtime/errors.ts';
import { spanOf } from '../batches/batch-span.ts';
import type { Inflate } from '../batches/codecs.ts';
import { RecordCursor } from '../batches/record-cursor.ts';
import type { FetchAnswer } from '../wire/fetch-request.ts';

/** Bytes of one partition in one answer; one record batch always fits. */
const FETCH_BYTES = 1024 * 1024;
/** What is read ahead of the page in use: enough that a reader that keeps up never waits. */
const FETCHES_AHEAD = 1;
const TIMER_MAX_MS = 2_147_483_647;

/** Where a partition begins and ends. */
export type Bounds = Pick<PartitionBounds, 'low' | 'end'>;

/** A question about this partition that is on its way. */
export type Flight = { readonly number: number; readonly offset: number; readonly bytesMax: number };

/**
 * What a session holds of one partition: what was fetched and not taken yet, and what is wanted next. One reader at a
 * time. Knows nothing of brokers: others ask for what it wants and bring the answers.
 */
export class PartitionFeed {
  readonly partition: TopicPartition;
  readonly #inflate: Inflate;
  readonly #nowMs: () => number;
  readonly #waiting = new Set<() => void>();
  readonly #flights = new Set<Flight>();
  #cursors: RecordCursor[] = [];
  /** Where the reader stands. */
  #offset = -1;
  /** Where the next fetch begins; `undefined`: nothing can follow what is held. */
  #fetchOffset: number | undefined;
  #bounds: Bounds | undefined;
  #demand: 'none' | 'wait' | 'now' = 'none';
  #demandSince = 0;
  #flightCount = 0;
  #lastAnswered = 0;
  #failure: { readonly error: unknown } | undefined;
  #problem: { readonly error: UnavailableError; readonly sinceMs: number } | undefined;
  #bytesMax = FETCH_BYTES;

  /** Set while it makes no sense to ask: until more is known of the cluster. */
  isHeld = false;
  /** How often in a row asking failed. */
  troubles = 0;
  /** Whether a poll that does not wait was tried since the last one that did. */
  hasTriedNow = false;

  constructor(
    partition: TopicPartition,
    { inflate, nowMs }: { readonly inflate: Inflate; readonly nowMs: () => number },
  ) {
    this.partition = partition;
    this.#inflate = inflate;
    this.#nowMs = nowMs;
  }

  get problem(): UnavailableError | undefined {
    return this.#problem?.error;
  }

  /** How long asking has failed, milliseconds. */
  get problemAgeMs(): number {
    return this.#problem === undefined ? 0 : this.#nowMs() - this.#problem.sinceMs;
  }

  get bounds(): Bounds | undefined {
    return this.#bounds;
  }

  get offset(): number {
    return this.#offset;
  }

  /** A mark; see `isAnsweredSince`. */
  get mark(): number {
    return this.#flightCount;
  }

  /** Whether a question that was put after the mark was answered. */
  isAnsweredSince(mark: number): boolean {
    return this.#lastAnswered > mark;
  }

  get hasDemand(): boolean {
    return this.#isUrgent || this.#wantsMore;
  }

  /** Whether an answer is wanted now, whether or not there is something. */
  get isUrgent(): boolean {
    return this.#isUrgent && ![...this.#flights].some(({ number }) => number > this.#demandSince);
  }

  /** Whether records are wanted that no question on its way asks for. */
  get isOpen(): boolean {
    return this.#wantsMore && ![...this.#flights].some(({ offset }) => offset === this.#fetchOffset);
  }

  get #isUrgent(): boolean {
    return this.#demand === 'now' && !this.isAnsweredSince(this.#demandSince);
  }

  get #wantsMore(): boolean {
    if (this.#fetchOffset === undefined) return false;
    if (this.#demand === 'wait' && this.#cursors.length === 0) return true;
    const isBehind = this.#cursors.length > 0 && this.#fetchOffset < (this.#bounds?.end ?? 0);
    return isBehind && this.#cursors.length <= FETCHES_AHEAD;
  }

  /** Goes to an offset; what is held stays if it begins there. */
  seek(offset: number): void {
    if (offset === this.#offset) return;
    this.#offset = offset;
    this.#cursors = [];
    this.#fetchOffset = offset;
    this.#failure = undefined;
  }

  /** What is held from the reader's offset on; `undefined`: nothing. Throws what reading failed with, once. */
  take(limits: PullLimits): LogBatch | undefined {
    const failure = this.#failure;
    if (failure !== undefined) {
      this.#restart();
      throw failure.error;
    }
    for (let cursor = this.#cursors[0]; cursor !== undefined; cursor = this.#cursors[0]) {
      const records = this.#takeFrom(cursor, limits);
      const { next } = cursor;
      if (cursor.isDone) this.#cursors.shift();
      if (next === this.#offset) continue;
      this.#offset = next;
      return this.#batch(records, next);
    }
    return undefined;
  }

  /** Nothing, as it is told at the end of a wait. */
  emptyAt({ offset }: Position): LogBatch {
    return this.#batch([], offset);
  }

  want(kind: 'none' | 'wait' | 'now'): void {
    if (kind === 'now') this.#demandSince = this.#flightCount;
    this.#demand = kind;
  }

  begin(): Flight {
    this.#flightCount += 1;
    const flight = { number: this.#flightCount, offset: this.#fetchOffset ?? this.#offset, bytesMax: this.#bytesMax };
    this.#flights.add(flight);
    return flight;
  }

  end(flight: Flight): void {
    this.#flights.delete(flight);
  }

  /** Takes a good answer in. Ignored if the reader went elsewhere meanwhile, or had the same from another question. */
  accept(flight: Flight, { low, end, aborted, records }: FetchAnswer): void {
    if (flight.offset !== this.#fetchOffset && flight.offset !== this.#offset) return;
    // Most answers say that there is still nothing, which nobody waits for.
    const isNews =
      records.length > 0 || this.#demand === 'now' || this.#bounds === undefined || this.#problem !== undefined;
    this.#bounds = { low, end };
    this.#problem = undefined;
    this.troubles = 0;
    this.#lastAnswered = Math.max(this.#lastAnswered, flight.number);
    if (records.length > 0 && flight.offset === this.#fetchOffset) this.#hold(flight, { aborted, records });
    if (isNews) this.wake();
  }

  /** The reader gets this error, once. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.wake();
  }

  /** Asking failed; it will be tried again. */
  trouble(error: UnavailableError): void {
    this.#problem = { error, sinceMs: this.#problem?.sinceMs ?? this.#nowMs() };
    this.wake();
  }

  /** A new question has not failed yet. */
  forgetProblem(): void {
    this.#problem = undefined;
  }

  wake(): void {
    for (const wake of this.#waiting) wake();
  }

  /** Resolves at the next change, after `ms`, or on abort. */
  changed(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', wake);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.min(Math.max(0, Math.ceil(ms)), TIMER_MAX_MS));
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }

  #takeFrom(cursor: RecordCursor, limits: PullLimits): LogBatch['records'] {
    try {
      return cursor.take(limits);
    } catch (error) {
      // Another replica may be sound: it is fetched anew when it is asked for again.
      this.#restart();
      throw error;
    }
  }

  #hold(flight: Flight, { aborted, records }: Pick<FetchAnswer, 'aborted' | 'records'>): void {
    this.hasTriedNow = false;
    const { lastOffset, cutBytes, isDamaged } = spanOf(records);
    // A batch that came cut is asked for with its size; it comes whole when it is the first of an answer.
    if (lastOffset === undefined && !isDamaged) {
      this.#bytesMax = Math.max(FETCH_BYTES, cutBytes);
      return;
    }
    const parts = { partition: this.partition, batches: records, aborted, from: flight.offset, inflate: this.#inflate };
    this.#cursors.push(new RecordCursor(parts));
    // Behind damage nothing can be read: the reader meets it first.
    this.#fetchOffset = isDamaged || lastOffset === undefined ? undefined : Math.max(flight.offset, lastOffset + 1);
    this.#bytesMax = FETCH_BYTES;
  }

  #restart(): void {
    this.#failure = undefined;
    this.#cursors = [];
    this.#fetchOffset = this.#offset;
  }

  #batch(records: LogBatch['records'], nextOffset: number): LogBatch {
    const { low, end } = this.#bounds ?? { low: 0, end: nextOffset };
    return { ...this.partition, records, nextOffset, low, end: Math.max(end, nextOffset) };
  }
}
