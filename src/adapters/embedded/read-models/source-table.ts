import type { StatementSync } from 'node:sqlite';
import type { Scope } from '../../../checkpoints/epoch.ts';
import type { RefKey } from '../../../log/ref.ts';
import { rowBytesMax, sourceTooLarge } from '../../../read-models/row-refusal.ts';
import type { SourceRecord } from '../../../read-models/source-record.ts';
import type { Refusal } from '../../../read-models/write-plan.ts';
import { oneRow, textOf } from '../database/columns.ts';
import type { Database } from '../database/database.ts';

/** The source records of one subscription and generation, inside the caller's transaction. */
export class SourceTable {
  readonly #scope: Scope;
  readonly #find: StatementSync;
  readonly #put: StatementSync;

  constructor(database: Database, scope: Scope) {
    this.#scope = scope;
    this.#find = database.statement(
      'SELECT record FROM tm_source WHERE subscription = ? AND generation = ? AND ref = ?',
    );
    this.#put = database.statement(
      `INSERT INTO tm_source(subscription, generation, ref, record) VALUES (?, ?, ?, ?)
       ON CONFLICT(subscription, generation, ref) DO UPDATE SET record = excluded.record`,
    );
  }

  find(ref: RefKey): SourceRecord | undefined {
    const row = oneRow(this.#find, this.#scope.subscription, this.#scope.generation, ref);
    return row && ({ ref, ...JSON.parse(textOf(row[0])) } as SourceRecord);
  }

  /** Why the record is not stored; `undefined`: it is. */
  put({ ref, ...record }: SourceRecord): Refusal | undefined {
    const text = JSON.stringify(record);
    // Three bytes for each unit of text at most.
    const bytes = text.length * 3 <= rowBytesMax ? 0 : Buffer.byteLength(text);
    if (bytes > rowBytesMax) return sourceTooLarge(ref, bytes);
    this.#put.run(this.#scope.subscription, this.#scope.generation, ref, text);
    return undefined;
  }
}
