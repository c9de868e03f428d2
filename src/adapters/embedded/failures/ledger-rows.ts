import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { Scope } from '../../../checkpoints/epoch.ts';
import type { Failure, LedgerChange, LedgerEntry, SequenceKey } from '../../../failures/failure.ts';
import { assertSameCommit } from '../../../failures/ledger-conflict-error.ts';
import { rankOf } from '../../../failures/sequence.ts';
import type { Position } from '../../../log/position.ts';
import type { RefKey } from '../../../log/ref.ts';
import { type Columns, integerOf, oneRow, optionalIntegerOf, optionalTextOf, textOf } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { fromColumn, fromHeadersColumn, toColumn, toHeadersColumn } from '../log/record-columns.ts';

const place = 'subscription = ? AND generation = ? AND topic = ? AND partition = ? AND position = ?';

/** Changes the ledger inside the caller's transaction. */
export class LedgerRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  apply(scope: Scope, change: LedgerChange): void {
    switch (change.kind) {
      case 'park':
        return this.#park(scope, change.entry);
      case 'fail':
        return this.#fail(scope, change.position, change.failure);
      case 'remove':
        this.#database.statement(`DELETE FROM tm_failure WHERE ${place}`).run(...placeOf(scope, change.position));
        return;
      default:
        change satisfies never;
    }
  }

  #park(scope: Scope, entry: LedgerEntry): void {
    const { record } = entry;
    const { changes } = this.#database
      .statement(
        `INSERT OR IGNORE INTO tm_failure
           (subscription, generation, topic, partition, position, sequence, rank, ref, version, commit_id, failure,
            parked_at, timestamp, bytes, key, headers, value)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        ...placeOf(scope, entry.position),
        entry.sequence,
        rankOf(entry),
        entry.ref ?? null,
        entry.version ?? null,
        entry.commitId ?? null,
        failureColumn(entry.failure),
        entry.parkedAtMs,
        record.timestamp,
        bytesOf(entry),
        toColumn(record.key),
        toHeadersColumn(record.headers),
        toColumn(record.value),
      );
    if (changes === 0) this.#assertSame(scope, entry);
  }

  #assertSame(scope: Scope, entry: LedgerEntry): void {
    const stored = oneRow(
      this.#database.statement(`SELECT commit_id, version FROM tm_failure WHERE ${place}`),
      ...placeOf(scope, entry.position),
    );
    const standing = { commitId: optionalTextOf(stored?.[0]), version: optionalIntegerOf(stored?.[1]) };
    assertSameCommit(scope, standing, entry);
  }

  #fail(scope: Scope, position: Position, failure: Failure): void {
    this.#database
      .statement(`UPDATE tm_failure SET failure = ? WHERE ${place}`)
      .run(failureColumn(failure), ...placeOf(scope, position));
  }
}

export const entryColumns =
  'topic, partition, position, sequence, ref, version, commit_id, failure, parked_at, timestamp, key, headers, value';

/** `row` holds `entryColumns`. */
export function toEntry(row: Columns): LedgerEntry {
  const position = { topic: textOf(row[0]), partition: integerOf(row[1]), offset: integerOf(row[2]) };
  return {
    position,
    ...toFacts(row.slice(3, 9)),
    record: {
      ...position,
      timestamp: integerOf(row[9]),
      key: fromColumn(row[10]),
      headers: fromHeadersColumn(row[11]),
      value: fromColumn(row[12]),
    },
  };
}

/** What an entry says beside position and record: sequence, ref, version, commit id, failure, time of parking. */
export function toFacts(row: Columns): Omit<LedgerEntry, 'position' | 'record'> {
  return {
    sequence: textOf(row[0]) as SequenceKey,
    ref: optionalTextOf(row[1]) as RefKey | undefined,
    version: optionalIntegerOf(row[2]),
    commitId: optionalTextOf(row[3]),
    failure: toFailure(row[4]),
    parkedAtMs: integerOf(row[5]),
  };
}

export function toFailure(column: SQLOutputValue | undefined): Failure | undefined {
  const text = optionalTextOf(column);
  if (text === undefined) return undefined;
  const failure = JSON.parse(text) as Failure;
  return { ...failure, nextRetryAtMs: failure.nextRetryAtMs ?? undefined };
}

function failureColumn(failure: Failure | undefined): SQLInputValue {
  return failure === undefined ? null : JSON.stringify(failure);
}

function placeOf({ subscription, generation }: Scope, { topic, partition, offset }: Position): SQLInputValue[] {
  return [subscription, generation, topic, partition, offset];
}

function bytesOf({ record }: LedgerEntry): number {
  return [record.key, record.value].reduce((sum, text) => sum + (text === undefined ? 0 : Buffer.byteLength(text)), 0);
}
