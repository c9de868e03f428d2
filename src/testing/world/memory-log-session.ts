import type { Assignment, LogBatch, LogSession, PullLimits } from '../../log/log-source.ts';
import { OffsetOutOfRangeError } from '../../log/offset-out-of-range-error.ts';
import type { Position } from '../../log/position.ts';
import type { LogRecord } from '../../log/record.ts';
import { sessionOver } from '../../log/session-over.ts';
import type { Clock } from '../../runtime/clock.ts';
import { Notifier } from '../../runtime/notifier.ts';
import type { MemoryLog } from './memory-log.ts';

export type MemoryLogSessionOptions = {
  readonly log: MemoryLog;
  readonly clock: Clock;
  readonly subscription: string;
  readonly topics: readonly string[];
};

/** One subscription's membership in the log in memory. What it owns is what it was assigned last, by hand or at its start. */
export class MemoryLogSession implements LogSession {
  readonly #options: MemoryLogSessionOptions;
  readonly #assignments: Assignment[] = [];
  readonly #assigned = new Notifier();
  readonly #stopping = new AbortController();

  constructor(options: MemoryLogSessionOptions) {
    this.#options = options;
  }

  get subscription(): string {
    return this.#options.subscription;
  }

  get topics(): readonly string[] {
    return this.#options.topics;
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Changes what the session owns; it is told in this order. */
  assign(assignment: Assignment): void {
    this.#assignments.push(assignment);
    this.#assigned.notify();
  }

  async *assignments(signal: AbortSignal): AsyncGenerator<Assignment, void, undefined> {
    const ended = AbortSignal.any([signal, this.#stopping.signal]);
    while (!ended.aborted) {
      const assignment = this.#assignments.shift();
      if (assignment !== undefined) yield assignment;
      else await this.#assigned.next(ended);
    }
  }

  async pull(from: Position, limits: PullLimits, signal: AbortSignal): Promise<LogBatch> {
    const { clock, subscription } = this.#options;
    if (this.isStopped && !signal.aborted) throw sessionOver(subscription);
    const untilMs = clock.monotonicMs() + limits.waitMs;
    for (;;) {
      const batch = this.#page(from, limits);
      const waitMs = untilMs - clock.monotonicMs();
      if (batch.records.length > 0 || waitMs <= 0 || signal.aborted || this.isStopped) return batch;
      await this.#change(waitMs, AbortSignal.any([signal, this.#stopping.signal]));
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
  }

  /** Waits for a change of the log, at most so long. */
  async #change(waitMs: number, signal: AbortSignal): Promise<void> {
    const { log, clock } = this.#options;
    const done = new AbortController();
    const either = AbortSignal.any([signal, done.signal]);
    await Promise.race([clock.sleep(waitMs, either), log.changed.next(either)]);
    // A reason given spares the making of an error.
    done.abort('over');
  }

  #page(from: Position, limits: PullLimits): LogBatch {
    const { topic, partition, offset } = from;
    const { low, end, records } = this.#options.log.partition(from);
    if (offset < low || offset > end) throw outOfRange(from, { low, end });
    const first = firstAtOrAfter(records, offset);
    const page: LogRecord[] = [];
    let bytes = 0;
    for (let place = first; place < records.length && page.length < Math.max(1, limits.records); place += 1) {
      const record = records[place];
      if (record === undefined) break;
      bytes += (record.key?.length ?? 0) + (record.value?.length ?? 0);
      if (page.length > 0 && bytes > limits.bytes) break;
      page.push(record);
    }
    // A page that holds all there is leads to the end, over offsets that hold nothing.
    const nextOffset = first + page.length >= records.length ? end : (page.at(-1)?.offset ?? offset - 1) + 1;
    return { topic, partition, records: page, nextOffset, low, end };
  }
}

function firstAtOrAfter(records: readonly LogRecord[], offset: number): number {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((records[middle]?.offset ?? offset) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

function outOfRange(
  { topic, partition, offset }: Position,
  { low, end }: { readonly low: number; readonly end: number },
): OffsetOutOfRangeError {
  return new OffsetOutOfRangeError(
    `Offset ${offset} of partition ${partition} of ${topic} is not in the log, which goes from ${low} to ${end}.`,
    { details: { topic, partition, offset, low, end } },
  );
}
