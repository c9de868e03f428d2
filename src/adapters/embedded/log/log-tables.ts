import type { PartitionBounds } from '../../../log/log-source.ts';
import type { Position, TopicPartition } from '../../../log/position.ts';
import type { LogRecord } from '../../../log/record.ts';
import { allRows, integerOf, oneRow, textOf } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { blockSize, offsetOfRecord, recordId, streamOfRecord } from './record-id.ts';
import { readPage, recordColumns, toRecord } from './record-page.ts';

/** A partition of a topic as the file keeps it. `next` is the offset of the record that comes next. */
export type Stream = TopicPartition & { readonly id: number; readonly next: number };

/** Reads the tables of the log. Each call reads within one turn and leaves nothing open. */
export class LogTables {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  streamsOf(topic: string): readonly Stream[] {
    return this.#database.read(() => {
      const statement = this.#database.statement(
        `SELECT s.id, s.partition, s.next FROM tm_topic t JOIN tm_stream s ON s.topic = t.id
         WHERE t.name = ? ORDER BY s.partition`,
      );
      return allRows(statement, topic).map(([id, partition, next]) => ({
        topic,
        partition: integerOf(partition),
        id: integerOf(id),
        next: integerOf(next),
      }));
    });
  }

  streamOf({ topic, partition }: TopicPartition): Stream | undefined {
    return this.#database.read(() => {
      const row = oneRow(
        this.#database.statement(
          `SELECT s.id, s.next FROM tm_topic t JOIN tm_stream s ON s.topic = t.id WHERE t.name = ? AND s.partition = ?`,
        ),
        topic,
        partition,
      );
      return row && { topic, partition, id: integerOf(row[0]), next: integerOf(row[1]) };
    });
  }

  boundsOf(topic: string): readonly PartitionBounds[] {
    return this.streamsOf(topic).map(({ partition, next }) => ({ partition, low: 0, end: next }));
  }

  /** Records from `offset` on, until one of the limits is reached; one record always fits. */
  page(
    stream: Stream,
    offset: number,
    limits: { readonly records: number; readonly bytes: number },
  ): readonly LogRecord[] {
    const rows = readPage(this.#database, { stream: stream.id, offset, records: limits.records, bytes: limits.bytes });
    return rows.map((row) => toRecord(stream, row));
  }

  recordAt(position: Position): LogRecord | undefined {
    const stream = this.streamOf(position);
    if (stream === undefined || position.offset < 0 || position.offset >= stream.next) return undefined;
    return this.page(stream, position.offset, { records: 1, bytes: 1 }).find(
      ({ offset }) => offset === position.offset,
    );
  }

  /** The record with this id, and where it stands. */
  recordById(id: number): LogRecord | undefined {
    return this.#database.read(() => {
      const stream = oneRow(
        this.#database.statement(
          'SELECT t.name, s.partition FROM tm_stream s JOIN tm_topic t ON t.id = s.topic WHERE s.id = ?',
        ),
        streamOfRecord(id),
      );
      const row = oneRow(this.#database.statement(`SELECT ${recordColumns} FROM tm_record WHERE id = ?`), id);
      return stream && row && toRecord({ topic: textOf(stream[0]), partition: integerOf(stream[1]) }, row);
    });
  }

  /** The lowest offset stamped at or after `instantMs`, else the end. Stamps may go back: every block is asked. */
  offsetAt(stream: Stream, instantMs: number): number {
    return this.#database.read(() => {
      const blocks = this.#database.statement(
        'SELECT block FROM tm_block WHERE stream = ? AND latest >= ? ORDER BY block LIMIT 1',
      );
      const block = oneRow(blocks, stream.id, instantMs)?.[0];
      if (block === undefined) return stream.next;
      const first = recordId(stream.id, integerOf(block) * blockSize);
      const records = this.#database.statement(
        'SELECT id FROM tm_record WHERE id >= ? AND id < ? AND timestamp >= ? ORDER BY id LIMIT 1',
      );
      const id = oneRow(records, first, first + blockSize, instantMs)?.[0];
      return id === undefined ? stream.next : offsetOfRecord(integerOf(id));
    });
  }
}
