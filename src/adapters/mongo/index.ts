export { LedgerConflictError } from './failures/ledger-outcome.ts';
export { type MongoOptions, type MongoStores, openMongo } from './open-mongo.ts';
export { ModelHeldError } from './read-models/model-collections.ts';
export { IndexConflictError, IndexViolatedError } from './read-models/model-indexes.ts';
export { ModelNameReservedError } from './read-models/model-names.ts';
export { type ServerDescription, ServerTooOldError, StandaloneServerError } from './server/connection.ts';
export { RightsMissingError, StoreRefusedError } from './server/mongo-error.ts';
export { DatabaseForeignError, SchemaNewerError } from './server/schema.ts';
