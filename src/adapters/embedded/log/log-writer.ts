import type { Position } from '../../../log/position.ts';
import type { LogRecord } from '../../../log/record.ts';
import { assert } from '../../../runtime/assert.ts';
import { allRows, integerOf, oneRow } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { streamKey, topicsKey } from './log-keys.ts';
import { toColumn, toHeadersColumn } from './record-columns.ts';
import { blockSize, offsetOfRecord, recordId, streamOfRecord } from './record-id.ts';

/** A record that has no place yet. */
export type NewRecord = Omit<LogRecord, 'offset' | 'partition'>;

export type TopicRow = { readonly id: number; readonly partitions: number };

/** A stream that this transaction appends to. */
type OpenStream = { readonly id: number; readonly key: string; next: number; block: number; latest: number };

/**
 * Appends records inside one transaction: made in it, `finish`ed before it ends, thrown away with it. Offsets are dense.
 */
export class LogWriter {
  readonly #database: Database;
  readonly #partitions: number;
  readonly #topics = new Map<string, TopicRow>();
  readonly #streams = new Map<string, OpenStream>();
  readonly #changed = new Set<string>();

  /** `partitions` is what a topic gets that does not exist yet. */
  constructor(database: Database, partitions: number) {
    this.#database = database;
    this.#partitions = partitions;
  }

  /** The topic, made if it is not there. */
  topic(name: string): TopicRow {
    const known = this.#topics.get(name);
    if (known !== undefined) return known;
    const row = oneRow(this.#database.statement('SELECT id, partitions FROM tm_topic WHERE name = ?'), name);
    const topic =
      row === undefined ? this.#createTopic(name) : { id: integerOf(row[0]), partitions: integerOf(row[1]) };
    this.#topics.set(name, topic);
    return topic;
  }

  /** Appends to the record's topic, and gives the record's id. */
  append(record: NewRecord, partition: number): { readonly id: number; readonly position: Position } {
    const { topic, timestamp } = record;
    const stream = this.#stream(topic, partition);
    const offset = stream.next;
    const id = recordId(stream.id, offset);
    stream.next += 1;
    this.#database
      .statement('INSERT INTO tm_record(id, timestamp, key, value, headers) VALUES (?, ?, ?, ?, ?)')
      .run(id, timestamp, toColumn(record.key), toColumn(record.value), toHeadersColumn(record.headers));
    this.#noteTimestamp(stream, offset, timestamp);
    return { id, position: { topic, partition, offset } };
  }

  /** Where a record stands that the topic has already. */
  positionOf(topic: string, id: number): Position {
    const statement = this.#database.statement('SELECT partition FROM tm_stream WHERE id = ?');
    const partition = integerOf(oneRow(statement, streamOfRecord(id))?.[0]);
    return { topic, partition, offset: offsetOfRecord(id) };
  }

  /** Writes what is kept per stream, and gives the keys of what changed: to be told once the transaction stands. */
  finish(): ReadonlySet<string> {
    const setNext = this.#database.statement('UPDATE tm_stream SET next = ? WHERE id = ?');
    for (const stream of this.#streams.values()) {
      setNext.run(stream.next, stream.id);
      this.#writeBlock(stream);
    }
    return this.#changed;
  }

  #createTopic(name: string): TopicRow {
    const { lastInsertRowid } = this.#database
      .statement('INSERT INTO tm_topic(name, partitions) VALUES (?, ?)')
      .run(name, this.#partitions);
    const id = Number(lastInsertRowid);
    const insert = this.#database.statement('INSERT INTO tm_stream(topic, partition, next) VALUES (?, ?, 0)');
    for (let partition = 0; partition < this.#partitions; partition += 1) insert.run(id, partition);
    this.#changed.add(topicsKey);
    return { id, partitions: this.#partitions };
  }

  #stream(topic: string, partition: number): OpenStream {
    const key = streamKey({ topic, partition });
    let stream = this.#streams.get(key);
    if (stream === undefined) {
      const rows = allRows(
        this.#database.statement('SELECT id, next FROM tm_stream WHERE topic = ? AND partition = ?'),
        this.topic(topic).id,
        partition,
      );
      const row = rows[0];
      assert(row !== undefined, 'records go to partitions the topic has', { topic, partition });
      const next = integerOf(row[1]);
      stream = {
        id: integerOf(row[0]),
        key,
        next,
        block: Math.floor(next / blockSize),
        latest: Number.MIN_SAFE_INTEGER,
      };
      this.#streams.set(key, stream);
      this.#changed.add(key);
    }
    return stream;
  }

  #noteTimestamp(stream: OpenStream, offset: number, timestamp: number): void {
    const block = Math.floor(offset / blockSize);
    if (block !== stream.block) {
      this.#writeBlock(stream);
      stream.block = block;
      stream.latest = timestamp;
    } else if (timestamp > stream.latest) {
      stream.latest = timestamp;
    }
  }

  #writeBlock({ id, block, latest }: OpenStream): void {
    if (latest === Number.MIN_SAFE_INTEGER) return;
    this.#database
      .statement(
        `INSERT INTO tm_block(stream, block, latest) VALUES (?, ?, ?)
         ON CONFLICT(stream, block) DO UPDATE SET latest = max(latest, excluded.latest)`,
      )
      .run(id, block, latest);
  }
}
