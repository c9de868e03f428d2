import type { Scope } from '../../../checkpoints/epoch.ts';
import type { RefKey } from '../../../log/ref.ts';
import type { ModelShape } from '../../../read-models/model-shape.ts';
import { refusalsOf } from '../../../read-models/row-refusal.ts';
import type { SourceRecord } from '../../../read-models/source-record.ts';
import { type RowChange, rowKeyOf, type StoredRow } from '../../../read-models/stored-row.ts';
import type { Refusal, WritePlan } from '../../../read-models/write-plan.ts';
import { assert } from '../../../runtime/assert.ts';
import type { Database } from '../database/database.ts';
import { isRefusedValue } from '../database/sqlite-error.ts';
import { refusedBy, tooLarge } from './row-refusal.ts';
import { encodedRow, RowTable } from './row-table.ts';
import { SourceTable } from './source-table.ts';

/** Carries out plans of one subscription and generation, inside the caller's transaction. */
export class PlanWriter {
  readonly #database: Database;
  readonly #scope: Scope;
  readonly #sources: SourceTable;
  readonly #tables = new Map<string, RowTable>();

  constructor(database: Database, scope: Scope) {
    this.#database = database;
    this.#scope = scope;
    this.#sources = new SourceTable(database, scope);
  }

  /** Why rows of the plan cannot stand; empty: all is written. */
  write(plan: WritePlan): readonly Refusal[] {
    const sources = new Map<RefKey, SourceRecord>();
    for (const ref of plan.sources) {
      const source = this.#sources.find(ref);
      if (source !== undefined) sources.set(ref, source);
    }
    const rows = new Map<string, StoredRow>();
    for (const { model, id } of plan.rows(sources)) {
      const row = this.#tableOf(model).find(id);
      if (row !== undefined) rows.set(rowKeyOf(model, id), row);
    }
    const decision = plan.decide(sources, rows);
    if (decision.kind === 'refused') {
      assert(decision.refusals.length > 0, 'a refused plan names what is refused');
      return decision.refusals;
    }
    const refusals = decision.sources.flatMap((source) => this.#putSource(source));
    return refusals.length > 0 ? refusals : this.#writeRows(plan, decision.rows);
  }

  #putSource(source: SourceRecord): readonly Refusal[] {
    const refusal = this.#sources.put(source);
    return refusal === undefined ? [] : [refusal];
  }

  #writeRows(plan: WritePlan, changes: readonly RowChange[]): readonly Refusal[] {
    // A value of a unique index may go from one row to another in this batch: all leave it before any takes it.
    for (const change of changes) {
      const table = this.#tableOf(change.model);
      if (change.kind === 'delete') table.delete(change.id);
      else if (change.kind === 'replace' && table.hasUniqueIndex) table.hide(change.row.id);
    }
    const refusals: Refusal[] = [];
    for (const change of changes) {
      if (change.kind !== 'delete') refusals.push(...this.#writeRow(plan, change));
    }
    return refusals;
  }

  #writeRow(plan: WritePlan, { kind, model, row }: Exclude<RowChange, { kind: 'delete' }>): readonly Refusal[] {
    const encoded = encodedRow(row);
    const key = { model, id: row.id };
    const reason = tooLarge(key, encoded);
    if (reason !== undefined) return refusalsOf(plan, key, reason);
    const table = this.#tableOf(model);
    try {
      if (kind === 'insert') table.insert(encoded);
      else table.replace(encoded);
      return [];
    } catch (error) {
      if (!isRefusedValue(error)) throw error;
      return refusalsOf(plan, key, refusedBy(key, error));
    }
  }

  #tableOf(model: ModelShape): RowTable {
    let table = this.#tables.get(model.name);
    if (table === undefined) {
      table = new RowTable(this.#database, model, this.#scope.generation);
      this.#tables.set(model.name, table);
    }
    return table;
  }
}
