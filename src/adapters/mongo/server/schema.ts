import { TidemarkError } from '../../../runtime/errors.ts';
import { SchemaNewerError } from '../../../runtime/schema-newer-error.ts';
import { sequenceIndex } from '../failures/mongo-failure-ledger.ts';
import type { MongoDatabase } from './mongo-database.ts';
import { hasCode, MongoCode } from './mongo-error.ts';

/** The database belongs to another service. */
export class DatabaseForeignError extends TidemarkError {
  readonly code = 'DATABASE_FOREIGN';
}

/** What this version writes. */
const schemaVersion = 1;

/** Says whose the database is. */
type MarkerDocument = { _id: string; service: string; schema: number };

/** Made before they are used: a transaction makes no collections. */
const collections = [
  'tm_initialisation',
  'tm_checkpoint',
  'tm_dropped',
  'tm_owner',
  'tm_audit',
  'tm_model',
  'tm_source',
  'tm_failure',
  'tm_failure_piece',
] as const;

/**
 * Makes the database the service's, unless it is that already, and brings it to this version's schema; several processes
 * may do so at once. Throws `DATABASE_FOREIGN`, `SCHEMA_NEWER`.
 */
export async function migrate(database: MongoDatabase, service: string): Promise<void> {
  const { service: owner, schema } = await mark(database, service);
  const name = database.db.databaseName;
  if (owner !== service) {
    throw new DatabaseForeignError(`The database ${name} belongs to the service ${owner}, not to ${service}.`, {
      details: { database: name, owner, service },
      hint: 'Name another database: each service has its own.',
    });
  }
  assertKnown(name, schema);
  await makeCollections(database);
}

/** Whose the database is; `undefined` while no worker has used it. Throws `SCHEMA_NEWER`. */
export async function serviceOf({ db }: MongoDatabase): Promise<string | undefined> {
  const marker = await db.collection<MarkerDocument>('tm_meta').findOne({ _id: 'database' });
  if (marker === null) return undefined;
  assertKnown(db.databaseName, marker.schema);
  return marker.service;
}

function assertKnown(database: string, schema: number): void {
  if (schema <= schemaVersion) return;
  throw new SchemaNewerError(`The database ${database}`, { schema, known: schemaVersion });
}

async function mark({ db }: MongoDatabase, service: string): Promise<MarkerDocument> {
  const markers = db.collection<MarkerDocument>('tm_meta');
  const marker = { _id: 'database', service, schema: schemaVersion };
  try {
    await markers.insertOne(marker);
    return marker;
  } catch (error) {
    if (!hasCode(error, MongoCode.duplicateKey)) throw error;
    return (await markers.findOne({ _id: marker._id })) ?? marker;
  }
}

async function makeCollections(database: MongoDatabase): Promise<void> {
  const { db } = database;
  const existing = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name));
  const missing = collections.filter((name) => !existing.has(name));
  await Promise.all(missing.map((name) => database.makeCollection(name)));
  await db.collection('tm_failure').createIndexes([
    { name: 'sequence', key: sequenceIndex },
    { name: 'ref', key: { ref: 1 } },
  ]);
}
