export { LedgerConflictError } from '../../failures/ledger-conflict-error.ts';
export { IndexViolatedError, ModelHeldError, ModelNameReservedError } from '../../read-models/model-error.ts';
export { SchemaNewerError } from '../../runtime/schema-newer-error.ts';
export { type MongoOptions, type MongoStores, openMongo } from './open-mongo.ts';
export { IndexConflictError } from './read-models/model-indexes.ts';
export { type ServerDescription, ServerTooOldError, StandaloneServerError } from './server/connection.ts';
export { RightsMissingError, StoreRefusedError } from './server/mongo-error.ts';
export { DatabaseForeignError } from './server/schema.ts';
