import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Assignment, LogBatch, LogSession, PullLimits } from '../../../log/log-source.ts';
import { OffsetOutOfRangeError } from '../../../log/offset-out-of-range-error.ts';
import { type Position, partitionKey, type TopicPartition } from '../../../log/position.ts';
import type { LogRecord } from '../../../log/record.ts';
import { sessionOver } from '../../../log/session-over.ts';
import type { ChangeWatch } from '../database/change-watch.ts';
import type { Columns } from '../database/columns.ts';
import { streamKey, topicsKey } from './log-keys.ts';
import type { LogTables, Stream } from './log-tables.ts';
import type { ReadAhead } from './read-ahead.ts';
import { toRecord } from './record-page.ts';

/** How long a look at the set of partitions waits before it looks again, told or not. */
const lookAgainMs = 60_000;
/** A page that is read before it is wanted takes no more, so that many partitions may have one. */
const aheadBytesMax = 1024 * 1024;

type SessionParts = {
  readonly tables: LogTables;
  readonly changes: ChangeWatch;
  readonly readAhead: ReadAhead;
  readonly subscription: string;
  readonly topics: readonly string[];
};

/** A page that is being read before it is wanted. */
type PageAhead = {
  readonly offset: number;
  readonly records: number;
  readonly rows: Promise<readonly Columns[] | undefined>;
};

/** One subscription's reading of the embedded log. */
export class EmbeddedLogSession implements LogSession {
  readonly #tables: LogTables;
  readonly #changes: ChangeWatch;
  readonly #readAhead: ReadAhead;
  readonly #subscription: string;
  readonly #topics: readonly string[];
  readonly #stopping = new AbortController();
  /** By stream: the page that most likely is asked for next. */
  readonly #ahead = new Map<number, PageAhead>();

  constructor({ tables, changes, readAhead, subscription, topics }: SessionParts) {
    this.#tables = tables;
    this.#changes = changes;
    this.#readAhead = readAhead;
    this.#subscription = subscription;
    this.#topics = [...new Set(topics)];
  }

  async *assignments(signal: AbortSignal): AsyncGenerator<Assignment, void, undefined> {
    const ended = AbortSignal.any([signal, this.#stopping.signal]);
    const owned = new Set<string>();
    let isFirst = true;
    while (!ended.aborted) {
      const assigned = this.#partitions().filter((partition) => !owned.has(partitionKey(partition)));
      for (const partition of assigned) owned.add(partitionKey(partition));
      if (isFirst || assigned.length > 0) {
        isFirst = false;
        // The caller may take its time: look once more before waiting, or what came meanwhile would be missed.
        yield { assigned, lost: [] };
      } else {
        await this.#changes.wait(topicsKey, lookAgainMs, ended);
      }
    }
  }

  async pull(from: Position, limits: PullLimits, signal: AbortSignal): Promise<LogBatch> {
    // A reader that is far behind never waits for the log: it must not keep others from their turn.
    await nextTurn();
    if (this.#stopping.signal.aborted && !signal.aborted) throw sessionOver(this.#subscription);
    const ended = limits.waitMs > 0 ? AbortSignal.any([signal, this.#stopping.signal]) : signal;
    const deadline = performance.now() + limits.waitMs;
    for (;;) {
      const batch = await this.#page(from, limits);
      const waitMs = deadline - performance.now();
      if (batch.records.length > 0 || waitMs <= 0) return batch;
      await this.#changes.wait(streamKey(from), waitMs, ended);
      if (ended.aborted) return batch;
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
  }

  #partitions(): readonly TopicPartition[] {
    return this.#topics.flatMap((topic) => this.#tables.boundsOf(topic).map(({ partition }) => ({ topic, partition })));
  }

  async #page(from: Position, limits: PullLimits): Promise<LogBatch> {
    const { topic, partition, offset } = from;
    const stream = this.#tables.streamOf(from);
    const end = stream?.next ?? 0;
    if (offset < 0 || offset > end) throw outOfRange(from, end);
    const records = stream === undefined || offset === end ? [] : await this.#records(stream, offset, limits);
    return { topic, partition, records, nextOffset: (records.at(-1)?.offset ?? offset - 1) + 1, low: 0, end };
  }

  async #records(stream: Stream, offset: number, limits: PullLimits): Promise<readonly LogRecord[]> {
    const ahead = this.#ahead.get(stream.id);
    this.#ahead.delete(stream.id);
    const isAsked = ahead?.offset === offset && ahead.records <= limits.records;
    const rows = isAsked ? await ahead.rows : undefined;
    const records = rows?.map((row) => toRecord(stream, row)) ?? this.#tables.page(stream, offset, limits);
    const next = (records.at(-1)?.offset ?? offset) + 1;
    // Near the end a page of its own would only come later.
    if (stream.next - next >= limits.records) this.#orderAhead(stream, next, limits);
    return records;
  }

  #orderAhead({ id }: Stream, offset: number, limits: PullLimits): void {
    const bytes = Math.min(limits.bytes, aheadBytesMax);
    const rows = this.#readAhead.order({ stream: id, offset, records: limits.records, bytes });
    if (rows !== undefined) this.#ahead.set(id, { offset, records: limits.records, rows });
  }
}

function outOfRange({ topic, partition, offset }: Position, end: number): OffsetOutOfRangeError {
  return new OffsetOutOfRangeError(
    `Offset ${offset} of partition ${partition} of ${topic} is not in the log, which goes from 0 to ${end}.`,
    {
      details: { topic, partition, offset, low: 0, end },
      hint: 'The file is another one than the checkpoint was saved for, or an older copy of it.',
    },
  );
}
