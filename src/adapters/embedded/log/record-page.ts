import type { TopicPartition } from '../../../log/position.ts';
import type { LogRecord } from '../../../log/record.ts';
import { type Columns, eachRow, integerOf } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { bytesOfColumn, fromColumn, fromHeadersColumn } from './record-columns.ts';
import { offsetOfRecord, recordId } from './record-id.ts';

/** A piece of a stream: from `offset` on, until one of the limits is reached; one record always fits. */
export type PageRequest = {
  readonly stream: number;
  readonly offset: number;
  readonly records: number;
  readonly bytes: number;
};

export const recordColumns = 'id, timestamp, key, value, headers';
/** What a record costs beside its key and value. */
const recordOverheadBytes = 100;

/** The rows of a page as the file has them: they may pass from one thread to another. */
export function readPage(database: Database, { stream, offset, records, bytes }: PageRequest): readonly Columns[] {
  return database.read(() => {
    const statement = database.statement(
      `SELECT ${recordColumns} FROM tm_record WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`,
    );
    const rows: Columns[] = [];
    let bytesRead = 0;
    for (const row of eachRow(statement, recordId(stream, offset), recordId(stream + 1, 0), Math.max(1, records))) {
      rows.push(row);
      bytesRead += bytesOfColumn(row[2]) + bytesOfColumn(row[3]) + recordOverheadBytes;
      if (bytesRead >= bytes) break;
    }
    return rows;
  });
}

export function toRecord({ topic, partition }: TopicPartition, row: Columns): LogRecord {
  return {
    topic,
    partition,
    offset: offsetOfRecord(integerOf(row[0])),
    timestamp: integerOf(row[1]),
    key: fromColumn(row[2]),
    value: fromColumn(row[3]),
    headers: fromHeadersColumn(row[4]),
  };
}
