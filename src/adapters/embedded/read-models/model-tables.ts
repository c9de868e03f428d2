import type { Scope } from '../../../checkpoints/epoch.ts';
import { indexNameOf } from '../../../read-models/index-name.ts';
import {
  IndexViolatedError,
  ModelHeldError,
  ModelKindChangedError,
  ModelNameReservedError,
} from '../../../read-models/model-error.ts';
import type { ModelShape } from '../../../read-models/model-shape.ts';
import { allRows, integerOf, oneRow, textOf } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { internalPrefix } from '../database/schema.ts';
import { isNotUnique } from '../database/sqlite-error.ts';
import { encodeName } from './row-json.ts';

/** The table of one generation of a model. */
export function tableOf(model: string, generation: number): string {
  return `${model}__g${generation}`;
}

export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

/**
 * Makes the model's table, indexes and view, and its entry in the list of models, if they are not there; drops indexes
 * that are not declared any more. Inside the caller's transaction.
 */
export function makeModel(database: Database, { subscription, generation }: Scope, model: ModelShape): void {
  assertNameIsFree(model.name);
  database
    .statement('INSERT OR IGNORE INTO tm_model(name, subscription, generation, kind) VALUES (?, ?, ?, ?)')
    .run(model.name, subscription, generation, model.kind);
  const listed = oneRow(
    database.statement('SELECT subscription, generation, kind FROM tm_model WHERE name = ?'),
    model.name,
  );
  const heldBy = textOf(listed?.[0]);
  const kind = textOf(listed?.[2]);
  if (heldBy !== subscription) throw new ModelHeldError({ model: model.name, heldBy, subscription });
  if (integerOf(listed?.[1]) === generation && kind !== model.kind) {
    throw new ModelKindChangedError({ model: model.name, stored: kind, declared: model.kind });
  }
  const table = tableOf(model.name, generation);
  database.define(`CREATE TABLE IF NOT EXISTS ${quoted(table)} (
    id TEXT PRIMARY KEY, live INTEGER NOT NULL, owner TEXT, version INTEGER, event_index INTEGER,
    contributors INTEGER, value TEXT NOT NULL, guard TEXT)`);
  database.define(`CREATE VIEW IF NOT EXISTS ${quoted(model.name)} AS
    SELECT id, value FROM ${quoted(table)} WHERE live = 1`);
  makeIndexes(database, table, model);
}

/** Whether such a model is listed, that is, has a view. */
export function hasModel(database: Database, model: string): boolean {
  return oneRow(database.statement('SELECT 1 FROM tm_model WHERE name = ?'), model) !== undefined;
}

function assertNameIsFree(name: string): void {
  if (!name.startsWith(internalPrefix) && !name.startsWith('sqlite_') && !/__g\d+$/.test(name)) return;
  throw new ModelNameReservedError(`The name ${name} is kept for the store's own tables.`, {
    details: { model: name },
    hint: `Choose a name that does not begin with ${internalPrefix} or sqlite_, nor end like the table of a generation.`,
  });
}

function makeIndexes(database: Database, table: string, model: ModelShape): void {
  // Tables, views and indexes share one space of names, and no model's name has a `~`.
  const declared = new Map(model.indexes.map((index) => [`${table}~${indexNameOf(index)}`, index]));
  const existing = allRows(database.statement(`SELECT name FROM pragma_index_list(?) WHERE origin = 'c'`), table);
  for (const name of existing.map((row) => textOf(row[0]))) {
    if (!declared.has(name)) database.define(`DROP INDEX ${quoted(name)}`);
  }
  for (const [name, index] of declared) {
    const terms = Object.entries(index.fields).map(([field, direction]) => {
      return `json_extract(value, ${literal(pathOf(field))}) ${direction === 1 ? 'ASC' : 'DESC'}`;
    });
    const unique = index.isUnique ? 'UNIQUE' : '';
    try {
      database.define(
        `CREATE ${unique} INDEX IF NOT EXISTS ${quoted(name)} ON ${quoted(table)} (${terms.join(', ')}) WHERE live = 1`,
      );
    } catch (error) {
      if (!isNotUnique(error)) throw error;
      throw new IndexViolatedError({ model: model.name, index: name }, error);
    }
  }
}

/** A dot leads into nested objects. */
function pathOf(field: string): string {
  const labels = field.split('.').map((label) => `."${encodeName(label).replaceAll('"', '\\"')}"`);
  return `$${labels.join('')}`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
