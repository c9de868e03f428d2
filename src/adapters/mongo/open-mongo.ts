import type { CheckpointStore } from '../../checkpoints/checkpoint-store.ts';
import type { FailureLedger } from '../../failures/failure-ledger.ts';
import type { ReadModelStore } from '../../read-models/read-model-store.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { MongoCheckpointStore } from './checkpoints/mongo-checkpoint-store.ts';
import { OwnerSessions } from './checkpoints/owner-sessions.ts';
import { MongoFailureLedger } from './failures/mongo-failure-ledger.ts';
import { MongoReadModelStore } from './read-models/mongo-read-model-store.ts';
import { connect, type ServerDescription } from './server/connection.ts';
import { MongoDatabase } from './server/mongo-database.ts';
import { translated } from './server/mongo-error.ts';
import { assertRights, missingRights } from './server/rights.ts';
import { migrate, serviceOf } from './server/schema.ts';

export type MongoOptions = {
  /** Of a replica set or of the routers of a sharded cluster; TLS and credentials stand in it. */
  readonly url: string;
  readonly database: string;
  /** Whose the database is: another service's is refused. `undefined`: only to look; nothing is made. */
  readonly service: string | undefined;
  /** How long one operation, or one whole transaction, may take until its outcome counts as unknown; default 20 s. */
  readonly deadlineMs?: number;
  /** How long to try to connect; default 30 s, `Infinity` to try for ever. */
  readonly connectMaxMs?: number;
  /** Ends the trying. */
  readonly signal?: AbortSignal;
  /** Connections; default 20. */
  readonly poolSizeMax?: number;
  /** When a connection counts as dead that gives no answer; default 30 s. */
  readonly socketTimeoutMs?: number;
  /** How long an operation waits for a primary or a free connection; default 5 s. */
  readonly selectionTimeoutMs?: number;
  readonly runtime: Pick<Runtime, 'clock' | 'random' | 'logger'>;
};

/** The stores on one database of MongoDB. */
export interface MongoStores extends AsyncDisposable {
  readonly checkpoints: CheckpointStore;
  readonly readModels: ReadModelStore;
  readonly ledger: FailureLedger;
  /** As it was when the connection was made. */
  readonly server: ServerDescription;
  /** Whose the database is, if anybody's, and what the user may not do to it but must as a worker. Throws `UNAVAILABLE`. */
  inspect(): Promise<{ readonly service: string | undefined; readonly missingRights: readonly string[] }>;
  /** Whether the server answers now. Throws `UNAVAILABLE`. */
  ping(): Promise<void>;
  /** Ends what is on the wire and all sessions. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens a database and makes it the service's, or only looks at one. Throws `STANDALONE_SERVER`, `SERVER_TOO_OLD`, `DATABASE_FOREIGN`,
 * `SCHEMA_NEWER`, `RIGHTS_MISSING`, `STORE_REFUSED`, and `UNAVAILABLE` where nobody answers within `connectMaxMs`.
 */
export async function openMongo(options: MongoOptions): Promise<MongoStores> {
  const { url, database: name, service, deadlineMs = 20_000, runtime } = options;
  const { client, server } = await connect({
    url,
    poolSizeMax: options.poolSizeMax ?? 20,
    socketTimeoutMs: options.socketTimeoutMs ?? 30_000,
    selectionTimeoutMs: options.selectionTimeoutMs ?? 5_000,
    connectMaxMs: options.connectMaxMs ?? 30_000,
    signal: options.signal,
    logger: runtime.logger,
  });
  try {
    const database = new MongoDatabase({ client, name, runtime, deadlineMs });
    await database.call('opening the database', async () => {
      if (service === undefined) {
        await serviceOf(database);
        return;
      }
      await assertRights(database);
      await migrate(database, service);
    });
    return compose(database, server);
  } catch (error) {
    await client.close();
    throw translated(error, `opening the database ${name}`);
  }
}

function compose(database: MongoDatabase, { version, replicaSet }: ServerDescription): MongoStores {
  const sessions = new OwnerSessions(database);
  const close = async (): Promise<void> => {
    await database.client.close();
  };
  return {
    checkpoints: new MongoCheckpointStore({ database, sessions }),
    readModels: new MongoReadModelStore({ database, sessions }),
    ledger: new MongoFailureLedger(database),
    server: { version, replicaSet },
    inspect: () =>
      database.call('inspecting the database', async () => ({
        service: await serviceOf(database),
        missingRights: await missingRights(database),
      })),
    ping: async () => {
      await database.call('asking for an answer', () => database.db.command({ ping: 1 }));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
