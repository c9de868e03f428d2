import type { SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import type { RefKey } from '../../../log/ref.ts';
import type { Guard, Part, PartsGuard } from '../../../read-models/guard.ts';
import type { ModelShape } from '../../../read-models/model-shape.ts';
import type { StoredRow } from '../../../read-models/stored-row.ts';
import { assert } from '../../../runtime/assert.ts';
import { type Columns, integerOf, oneRow, optionalIntegerOf, textOf } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { quoted, tableOf } from './model-tables.ts';
import { decodeRow, encodeRow } from './row-json.ts';

/** A row as the table takes it. */
export type EncodedRow = { readonly id: string; readonly columns: readonly SQLInputValue[]; readonly bytesMax: number };

const noValue = {};
const read: Readonly<Record<ModelShape['kind'], string>> = {
  rows: 'live, owner, version, event_index',
  moves: 'live, owner, version, event_index',
  joined: 'live, guard',
  totals: 'live, contributors, guard, value',
};

/** Reads and writes the rows of one generation of a model, inside the caller's transaction. */
export class RowTable {
  readonly hasUniqueIndex: boolean;
  readonly #kind: ModelShape['kind'];
  readonly #find: StatementSync;
  readonly #insert: StatementSync;
  readonly #replace: StatementSync;
  readonly #delete: StatementSync;
  readonly #hide: StatementSync;

  constructor(database: Database, model: ModelShape, generation: number) {
    const table = quoted(tableOf(model.name, generation));
    this.#kind = model.kind;
    this.hasUniqueIndex = model.indexes.some(({ isUnique }) => isUnique);
    this.#find = database.statement(`SELECT ${read[model.kind]} FROM ${table} WHERE id = ?`);
    this.#insert = database.statement(
      `INSERT INTO ${table}(live, owner, version, event_index, contributors, value, guard, id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#replace = database.statement(
      `UPDATE ${table} SET live = ?, owner = ?, version = ?, event_index = ?, contributors = ?, value = ?, guard = ?
       WHERE id = ?`,
    );
    this.#delete = database.statement(`DELETE FROM ${table} WHERE id = ?`);
    this.#hide = database.statement(`UPDATE ${table} SET live = 0 WHERE id = ? AND live = 1`);
  }

  find(id: string): StoredRow | undefined {
    const row = oneRow(this.#find, id);
    return row && toStoredRow(this.#kind, id, row);
  }

  insert({ id, columns }: EncodedRow): void {
    this.#insert.run(...columns, id);
  }

  replace({ id, columns }: EncodedRow): void {
    const { changes } = this.#replace.run(...columns, id);
    assert(changes === 1, 'a row that is replaced was found before', { id });
  }

  delete(id: string): void {
    this.#delete.run(id);
  }

  /** Takes the row out of the indexes, until it is written again in the same transaction. */
  hide(id: string): void {
    this.#hide.run(id);
  }
}

export function encodedRow({ id, isLive, value, guard }: StoredRow): EncodedRow {
  const text = encodeRow(value);
  const more = guardText(guard);
  return {
    id,
    columns: [isLive ? 1 : 0, ...guardColumns(guard), text, more],
    // An upper bound, which most rows stay far below: three bytes for each unit of text.
    bytesMax: 3 * Math.max(text.length, more?.length ?? 0),
  };
}

/** What of a guard does not fit into plain columns. */
function guardText(guard: Guard): string | null {
  switch (guard.kind) {
    case 'owner':
      return null;
    case 'parts':
      return encodeParts(guard);
    case 'contributors':
      return Object.keys(guard.fields).length === 0 ? null : encodeRow(guard.fields);
    default:
      return guard satisfies never;
  }
}

function guardColumns(guard: Guard): readonly SQLInputValue[] {
  switch (guard.kind) {
    case 'owner':
      return [guard.owner, guard.version, guard.eventIndex, null];
    case 'parts':
      return [null, null, null, null];
    case 'contributors':
      return [null, null, null, guard.contributors ?? null];
    default:
      return guard satisfies never;
  }
}

function toStoredRow(kind: ModelShape['kind'], id: string, row: Columns): StoredRow {
  const isLive = row[0] === 1;
  switch (kind) {
    case 'rows':
    case 'moves': {
      const [, owner, version, eventIndex] = row;
      return {
        id,
        isLive,
        value: noValue,
        guard: {
          kind: 'owner',
          owner: textOf(owner) as RefKey,
          version: integerOf(version),
          eventIndex: integerOf(eventIndex),
        },
      };
    }
    case 'joined':
      return { id, isLive, value: noValue, guard: decodeParts(textOf(row[1])) };
    case 'totals':
      return {
        id,
        isLive,
        value: decodeRow(textOf(row[3])),
        guard: { kind: 'contributors', contributors: optionalIntegerOf(row[1]), fields: decodeFields(row[2]) },
      };
    default:
      return kind satisfies never;
  }
}

const noFields: Readonly<Record<string, number>> = {};

function decodeFields(column: SQLOutputValue | undefined): Readonly<Record<string, number>> {
  return column === null ? noFields : (decodeRow(textOf(column)) as Readonly<Record<string, number>>);
}

type EncodedPart = Omit<Part, 'fields'> & { readonly fields?: Part['fields'] };

function encodeParts({ parts }: PartsGuard): string {
  const encoded = Object.entries(parts).map(([name, { fields, ...guard }]): [string, EncodedPart] => {
    return [name, fields === undefined ? guard : { ...guard, fields }];
  });
  return encodeRow(Object.fromEntries(encoded));
}

function decodeParts(text: string): PartsGuard {
  const parts = Object.entries(decodeRow(text) as Readonly<Record<string, EncodedPart>>);
  return {
    kind: 'parts',
    parts: Object.fromEntries(parts.map(([name, { fields, ...guard }]) => [name, { ...guard, fields }])),
  };
}
