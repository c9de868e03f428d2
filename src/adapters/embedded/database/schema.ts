import { randomUUID } from 'node:crypto';
import { TidemarkError } from '../../../runtime/errors.ts';
import { SchemaNewerError } from '../../../runtime/schema-newer-error.ts';
import { oneRow, textOf } from './columns.ts';
import type { Database } from './database.ts';

/** The file is a database, but not one of ours. */
export class FileForeignError extends TidemarkError {
  readonly code = 'FILE_FOREIGN';
}

/** All tables of our own begin with this; no read model may. */
export const internalPrefix = 'tm_';

/** Each brings the schema from its index to the next version. Never changed once released; new ones are added. */
const migrations: readonly ((database: Database) => void)[] = [createTables];

/** What identifies the log in this file: another file, another incarnation. */
export type Schema = { readonly incarnation: string };

/** Brings the file to this version's schema; several processes may do so at once. */
export async function migrate(database: Database): Promise<Schema> {
  const current = database.read(() => versionOf(database));
  if (current !== migrations.length) {
    await database.write(() => {
      const from = versionOf(database);
      if (from === 0) database.define(`CREATE TABLE tm_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)`);
      for (const step of migrations.slice(from)) step(database);
      const set = database.statement('INSERT OR REPLACE INTO tm_meta(key, value) VALUES (?, ?)');
      set.run('schema', String(migrations.length));
      if (from === 0) set.run('incarnation', randomUUID());
    });
  }
  return readSchema(database);
}

/** The schema of a file that must have one already. */
export function readSchema(database: Database): Schema {
  return database.read(() => {
    if (versionOf(database) === 0) throw foreign(database);
    return { incarnation: metaOf(database, 'incarnation') ?? '' };
  });
}

/** 0: an empty file. */
function versionOf(database: Database): number {
  if (!hasTable(database, 'tm_meta')) {
    if (isEmpty(database)) return 0;
    throw foreign(database);
  }
  const version = Number(metaOf(database, 'schema'));
  if (version <= migrations.length) return version;
  throw new SchemaNewerError(`The file ${database.file}`, { schema: version, known: migrations.length });
}

function foreign({ file }: Database): FileForeignError {
  return new FileForeignError(`The file ${file} is a database of something else.`, {
    details: { file },
    hint: 'Name another file; a new one is made.',
  });
}

function metaOf(database: Database, key: string): string | undefined {
  const row = oneRow(database.statement('SELECT value FROM tm_meta WHERE key = ?'), key);
  return row && textOf(row[0]);
}

function hasTable(database: Database, name: string): boolean {
  return (
    oneRow(database.statement(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`), name) !== undefined
  );
}

function isEmpty(database: Database): boolean {
  return oneRow(database.statement('SELECT 1 FROM sqlite_schema LIMIT 1')) === undefined;
}

function createTables(database: Database): void {
  database.define(`
    CREATE TABLE tm_follower (pid INTEGER NOT NULL, started_at INTEGER NOT NULL);

    CREATE TABLE tm_topic (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, partitions INTEGER NOT NULL);
    CREATE TABLE tm_stream (
      id INTEGER PRIMARY KEY, topic INTEGER NOT NULL, partition INTEGER NOT NULL, next INTEGER NOT NULL,
      UNIQUE (topic, partition));
    CREATE TABLE tm_record (id INTEGER PRIMARY KEY, timestamp INTEGER NOT NULL, key, value, headers TEXT);
    CREATE TABLE tm_block (
      stream INTEGER NOT NULL, block INTEGER NOT NULL, latest INTEGER NOT NULL,
      PRIMARY KEY (stream, block)) WITHOUT ROWID;
    CREATE TABLE tm_aggregate (id INTEGER PRIMARY KEY, topic INTEGER NOT NULL, ref TEXT NOT NULL, UNIQUE (topic, ref));
    CREATE TABLE tm_version (
      aggregate INTEGER NOT NULL, version INTEGER NOT NULL, record INTEGER NOT NULL,
      PRIMARY KEY (aggregate, version)) WITHOUT ROWID;

    CREATE TABLE tm_initialisation (
      subscription TEXT NOT NULL, generation INTEGER NOT NULL, topic TEXT NOT NULL, identity TEXT NOT NULL,
      starts TEXT NOT NULL, origin TEXT NOT NULL, history_incomplete INTEGER NOT NULL,
      PRIMARY KEY (subscription, generation, topic)) WITHOUT ROWID;
    CREATE TABLE tm_checkpoint (
      subscription TEXT NOT NULL, generation INTEGER NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL,
      epoch INTEGER NOT NULL, sequence INTEGER NOT NULL, position INTEGER NOT NULL, completed TEXT NOT NULL,
      origin TEXT NOT NULL, owner TEXT NOT NULL, saved_at INTEGER NOT NULL,
      PRIMARY KEY (subscription, generation, topic, partition)) WITHOUT ROWID;
    CREATE TABLE tm_dropped (
      subscription TEXT NOT NULL, generation INTEGER NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL,
      epoch INTEGER NOT NULL,
      PRIMARY KEY (subscription, generation, topic, partition)) WITHOUT ROWID;
    CREATE TABLE tm_audit (
      id INTEGER PRIMARY KEY, at INTEGER NOT NULL, action TEXT NOT NULL, who TEXT NOT NULL, why TEXT NOT NULL,
      subscription TEXT NOT NULL, generation INTEGER NOT NULL, details TEXT NOT NULL);

    CREATE TABLE tm_model (
      name TEXT PRIMARY KEY, subscription TEXT NOT NULL, generation INTEGER NOT NULL, kind TEXT NOT NULL);
    CREATE TABLE tm_source (
      subscription TEXT NOT NULL, generation INTEGER NOT NULL, ref TEXT NOT NULL, record TEXT NOT NULL,
      PRIMARY KEY (subscription, generation, ref));

    CREATE TABLE tm_failure (
      subscription TEXT NOT NULL, generation INTEGER NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL,
      position INTEGER NOT NULL, sequence TEXT NOT NULL, rank INTEGER NOT NULL, ref TEXT, version INTEGER,
      commit_id TEXT, failure TEXT, parked_at INTEGER NOT NULL, timestamp INTEGER NOT NULL, bytes INTEGER NOT NULL,
      key, headers TEXT, value,
      PRIMARY KEY (subscription, generation, topic, partition, position));
    CREATE INDEX tm_failure_sequence
      ON tm_failure (subscription, generation, sequence, rank, topic, partition, position);
    CREATE INDEX tm_failure_ref ON tm_failure (ref);
  `);
}
