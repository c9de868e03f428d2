import { isUtf8 } from 'node:buffer';
import type { TopicPartition } from '../../../log/position.ts';
import type { LogRecord, RecordHeader, RecordText } from '../../../log/record.ts';
import type { AbortedTransaction } from '../wire/fetch-request.ts';
import { WireError } from '../wire/wire-error.ts';
import { WireReader } from '../wire/wire-reader.ts';
import { type BatchHeader, readBatchHeader } from './batch-header.ts';
import type { Inflate } from './codecs.ts';
import { crc32c } from './crc32c.ts';
import { damagedAt } from './log-damaged-error.ts';

export type CursorParts = {
  readonly partition: TopicPartition;
  /** Record batches one after the other; the last may be cut. */
  readonly batches: Buffer;
  readonly aborted: readonly AbortedTransaction[];
  /** The first offset that is wanted; the first batch may begin before it. */
  readonly from: number;
  readonly inflate: Inflate;
};

export type TakeLimits = { readonly records: number; readonly bytes: number };

/** The batch that records are taken from. */
type OpenBatch = { readonly header: BatchHeader; readonly reader: WireReader; left: number };

/** The type of a control record that ends a transaction as aborted. */
const ABORT = 0;

/**
 * Reads what one fetch brought, forward, decoding as it goes. Records of aborted transactions and control records are
 * passed over. Total: what is no record batch is a `LogDamagedError`, after the records before it.
 */
export class RecordCursor {
  readonly #parts: CursorParts;
  readonly #reader: WireReader;
  /** Ordered by offset; the first ones leave it as they begin. */
  readonly #aborted: AbortedTransaction[];
  readonly #abortedProducers = new Set<number>();
  #batch: OpenBatch | undefined;
  #next: number;
  #isDone = false;
  #held: LogRecord | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(parts: CursorParts) {
    this.#parts = parts;
    this.#reader = new WireReader(parts.batches);
    this.#aborted = parts.aborted.toSorted((a, b) => a.firstOffset - b.firstOffset);
    this.#next = parts.from;
  }

  /** Everything below was taken or passed over. */
  get next(): number {
    return this.#next;
  }

  /** Whether nothing is left to take. */
  get isDone(): boolean {
    return this.#isDone && this.#held === undefined;
  }

  /** The next records; none once it is done. Throws `LogDamagedError`, and what `Inflate` throws. */
  take(limits: TakeLimits): readonly LogRecord[] {
    const records: LogRecord[] = [];
    let bytes = 0;
    while (records.length < limits.records) {
      this.#lookAhead();
      const record = this.#held;
      if (record === undefined) break;
      bytes += sizeOf(record);
      if (bytes > limits.bytes && records.length > 0) break;
      records.push(record);
      this.#held = undefined;
      this.#next = record.offset + 1;
    }
    // So that what holds no records is passed over at once.
    this.#lookAhead();
    if (records.length === 0 && this.#failure !== undefined) throw this.#failure.error;
    return records;
  }

  /** Decodes one record ahead of what is taken, unless there is none. */
  #lookAhead(): void {
    if (this.#held !== undefined || this.#isDone || this.#failure !== undefined) return;
    try {
      this.#held = this.#read();
    } catch (error) {
      const isOurs = error instanceof WireError;
      this.#failure = { error: isOurs ? damagedAt({ ...this.#parts.partition, offset: this.#next }, error) : error };
    }
  }

  /** `undefined` at the end. */
  #read(): LogRecord | undefined {
    while (!this.#isDone) {
      const batch = this.#batch ?? this.#openBatch();
      if (batch === undefined) continue;
      if (batch.left === 0) {
        this.#pass(batch.header);
        continue;
      }
      batch.left -= 1;
      const record = this.#decode(batch);
      if (record.offset >= this.#next) return record;
    }
    return undefined;
  }

  /** Opens the next batch with records that count, passing over others; `undefined`: there is none (yet). */
  #openBatch(): OpenBatch | undefined {
    const { batches, inflate } = this.#parts;
    const read = readBatchHeader(this.#reader);
    if (read.kind === 'cut') {
      this.#isDone = true;
      return undefined;
    }
    const { header } = read;
    if (header.lastOffset < this.#next) {
      this.#reader.at = header.end;
      return undefined;
    }
    if (crc32c(batches, header.checkedFrom, header.end) !== header.checksum) {
      throw new WireError('the checksum of a record batch is wrong');
    }
    this.#beginAborted(header);
    if (header.isControl || this.#isAborted(header)) {
      if (header.isControl) this.#endAborted(header);
      this.#pass(header);
      return undefined;
    }
    const records = batches.subarray(header.recordsFrom, header.end);
    const bytes = header.codec === 0 ? records : inflate(header.codec, records);
    this.#batch = { header, reader: new WireReader(bytes), left: header.recordCount };
    return this.#batch;
  }

  #pass({ lastOffset, end }: BatchHeader): void {
    this.#batch = undefined;
    this.#reader.at = end;
    this.#next = Math.max(this.#next, lastOffset + 1);
  }

  #beginAborted({ lastOffset }: BatchHeader): void {
    for (
      let first = this.#aborted[0];
      first !== undefined && first.firstOffset <= lastOffset;
      first = this.#aborted[0]
    ) {
      this.#abortedProducers.add(first.producerId);
      this.#aborted.shift();
    }
  }

  #isAborted({ isTransactional, producerId }: BatchHeader): boolean {
    return isTransactional && this.#abortedProducers.has(producerId);
  }

  #endAborted({ recordsFrom, end, producerId }: BatchHeader): void {
    const reader = new WireReader(this.#parts.batches, recordsFrom, end);
    reader.varint();
    reader.int8();
    reader.varint();
    reader.varint();
    if (reader.varint() < 4) return;
    reader.int16();
    if (reader.int16() === ABORT) this.#abortedProducers.delete(producerId);
  }

  #decode({ reader, header }: OpenBatch): LogRecord {
    const { topic, partition } = this.#parts.partition;
    const length = reader.varint();
    const end = reader.at + length;
    if (length < 0 || end > reader.end) throw new WireError('a record is longer than its batch');
    reader.skip(1);
    const timestampDelta = reader.varint();
    const offset = header.firstOffset + reader.varint();
    if (offset < header.firstOffset || offset > header.lastOffset) throw new WireError('an offset is not of its batch');
    const timestamp = header.isStampedByLog ? header.maxTimestamp : header.firstTimestamp + timestampDelta;
    const key = readText(reader);
    const value = readText(reader);
    const headers = readHeaders(reader);
    if (reader.at !== end) throw new WireError('a record has another length than it says');
    return { topic, partition, offset, timestamp, key, value, headers };
  }
}

const noHeaders: readonly RecordHeader[] = [];

function readHeaders(reader: WireReader): readonly RecordHeader[] {
  const count = reader.varint();
  if (count === 0) return noHeaders;
  // A header has two bytes at least.
  if (count < 0 || count * 2 > reader.left) throw new WireError('a record has more headers than bytes');
  const headers: RecordHeader[] = [];
  for (let index = 0; index < count; index += 1) {
    const length = reader.varint();
    if (length < 0) throw new WireError('a header has no name');
    const name = reader.slice(length).toString('utf8');
    headers.push([name, readText(reader)]);
  }
  return headers;
}

/** What decoding puts in the place of bytes that are no text. */
const REPLACEMENT = '\ufffd';

/** Text where the bytes are well-formed, else a copy of them: a slice would keep all that was fetched in memory. */
function readText(reader: WireReader): RecordText {
  const length = reader.varint();
  if (length < 0) return undefined;
  if (length === 0) return '';
  const start = reader.at;
  reader.skip(length);
  const text = reader.bytes.toString('utf8', start, reader.at);
  // A view of the bytes costs more than reading them: it is made for the few texts that need a closer look.
  if (!text.includes(REPLACEMENT)) return text;
  const bytes = reader.bytes.subarray(start, reader.at);
  return isUtf8(bytes) ? text : Uint8Array.from(bytes);
}

function sizeOf({ key, value, headers }: LogRecord): number {
  let size = (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, text] of headers) size += name.length + (text?.length ?? 0);
  return size;
}
