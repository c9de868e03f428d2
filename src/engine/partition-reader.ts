import type { LogBatch, LogSession } from '../log/log-source.ts';
import type { TopicPartition } from '../log/position.ts';
import type { LogRecord } from '../log/record.ts';
import { assert } from '../runtime/assert.ts';

/** Records and bytes taken from the log at once: a page that stays small dies young, which the garbage collector likes. */
const PAGE_RECORDS = 250;
const PAGE_BYTES = 8 * 1024 * 1024;

/** Reads one partition forward, a page at a time, by demand. */
export class PartitionReader {
  readonly #session: LogSession;
  readonly #partition: TopicPartition;
  #page: readonly LogRecord[] = [];
  #cursor = 0;
  /** Where the page after this one starts. */
  #nextOffset: number;
  #end: number;
  #hasAnswer = false;

  constructor(
    session: LogSession,
    partition: TopicPartition,
    start: { readonly offset: number; readonly end: number },
  ) {
    this.#session = session;
    this.#partition = partition;
    this.#nextOffset = start.offset;
    this.#end = start.end;
  }

  /** The next record of the page in memory; `undefined`: `fill` first. */
  peek(): LogRecord | undefined {
    return this.#page[this.#cursor];
  }

  /** Goes past the record that `peek` gave. */
  skip(): void {
    this.#cursor += 1;
  }

  /** Everything below was taken. */
  get offset(): number {
    return this.#page[this.#cursor]?.offset ?? this.#nextOffset;
  }

  /** The log's end as last seen. */
  get end(): number {
    return this.#end;
  }

  /** Whether the log has answered, so that the position is known to lie in it. */
  get hasAnswer(): boolean {
    return this.#hasAnswer;
  }

  get isAtEnd(): boolean {
    return this.offset >= this.#end;
  }

  /** Takes the next page once the one in memory is used up; waits up to `waitMs` for a first record. */
  async fill(waitMs: number, signal: AbortSignal): Promise<void> {
    assert(this.#cursor >= this.#page.length, 'a page is used up before the next one is taken');
    const from = { ...this.#partition, offset: this.#nextOffset };
    const batch = await this.#session.pull(from, { records: PAGE_RECORDS, bytes: PAGE_BYTES, waitMs }, signal);
    this.#accept(batch);
    this.#hasAnswer = true;
  }

  #accept(batch: LogBatch): void {
    const first = batch.records[0];
    assert(first === undefined || first.offset >= this.#nextOffset, 'a batch starts at or after the offset asked for', {
      asked: this.#nextOffset,
      got: first?.offset,
    });
    assert(batch.nextOffset >= this.#nextOffset, 'a batch never leads backwards', { nextOffset: batch.nextOffset });
    this.#page = batch.records;
    this.#cursor = 0;
    this.#nextOffset = batch.nextOffset;
    this.#end = batch.end;
  }
}
