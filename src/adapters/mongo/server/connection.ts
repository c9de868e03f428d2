import { MongoClient } from 'mongodb';
import pRetry from 'p-retry';
import { messageOf, TidemarkError, UnavailableError } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logger.ts';
import { StoreRefusedError, translated } from './mongo-error.ts';

/** The server runs alone: it has no transactions, and may lose what it acknowledged. */
export class StandaloneServerError extends TidemarkError {
  readonly code = 'STANDALONE_SERVER';
}

/** The server is older than what the adapter was built on. */
export class ServerTooOldError extends TidemarkError {
  readonly code = 'SERVER_TOO_OLD';
}

const oldestMajor = 6;

/** The driver asks this by field name, and its own default answers for `constructor` and what else any object has. */
const noFields = Object.create(null) as Record<string, boolean>;

export type ConnectionOptions = {
  readonly url: string;
  readonly poolSizeMax: number;
  readonly socketTimeoutMs: number;
  readonly selectionTimeoutMs: number;
  /** How long to try before giving up. */
  readonly connectMaxMs: number;
  readonly signal: AbortSignal | undefined;
  readonly logger: Logger;
};

/** What a server says of itself. */
export type ServerDescription = {
  readonly version: string;
  /** A name, or `undefined` behind the routers of a sharded cluster. */
  readonly replicaSet: string | undefined;
};

/** Connects, with backoff while nobody answers. Throws `STANDALONE_SERVER`, `SERVER_TOO_OLD`, `STORE_REFUSED`, `UNAVAILABLE`. */
export async function connect(
  options: ConnectionOptions,
): Promise<{ readonly client: MongoClient; readonly server: ServerDescription }> {
  const { connectMaxMs, signal, logger } = options;
  const client = clientOf(options);
  try {
    const server = await pRetry(() => describe(client), {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: 100,
      maxTimeout: 5_000,
      randomize: true,
      maxRetryTime: connectMaxMs,
      ...(signal === undefined ? {} : { signal }),
      shouldRetry: ({ error }) => error instanceof UnavailableError,
      onFailedAttempt: ({ error }) => logger.warn('MongoDB cannot be reached yet; trying again.', { error }),
    });
    assertIsUsable(server);
    return { client, server };
  } catch (error) {
    await client.close();
    throw error;
  }
}

function clientOf(options: ConnectionOptions): MongoClient {
  const { url, poolSizeMax, socketTimeoutMs, selectionTimeoutMs } = options;
  try {
    return new MongoClient(url, {
      appName: 'tidemark',
      // The adapter repeats by itself, under its own guards.
      retryWrites: false,
      retryReads: false,
      writeConcern: { w: 'majority' },
      readConcern: { level: 'majority' },
      readPreference: 'primary',
      maxPoolSize: poolSizeMax,
      serverSelectionTimeoutMS: selectionTimeoutMs,
      waitQueueTimeoutMS: selectionTimeoutMs,
      connectTimeoutMS: selectionTimeoutMs,
      socketTimeoutMS: socketTimeoutMs,
      fieldsAsRaw: noFields,
    });
  } catch (error) {
    // Not all that is wrong with a URL is said by an error of the driver's own.
    throw new StoreRefusedError(`The URL of MongoDB cannot be used: ${messageOf(error)}.`, {
      hint: 'Write mongodb://host:port,…/?replicaSet=name, or mongodb+srv://host.',
      cause: error,
    });
  }
}

type Hello = { readonly setName?: string; readonly msg?: string };

async function describe(client: MongoClient): Promise<ServerDescription & { readonly isStandalone: boolean }> {
  try {
    await client.connect();
    const admin = client.db('admin');
    const { setName, msg } = (await admin.command({ hello: 1 })) as Hello;
    const { version } = (await admin.command({ buildInfo: 1 })) as unknown as { readonly version: string };
    return { version, replicaSet: setName, isStandalone: setName === undefined && msg !== 'isdbgrid' };
  } catch (error) {
    throw translated(error, 'connecting');
  }
}

function assertIsUsable({ version, isStandalone }: ServerDescription & { readonly isStandalone: boolean }): void {
  if (isStandalone) {
    throw new StandaloneServerError('The MongoDB server is a standalone one, without transactions.', {
      details: { version },
      hint: 'Run it as a replica set; one member is enough: start mongod with --replSet, then rs.initiate().',
    });
  }
  if (Number(version.split('.', 1)[0]) >= oldestMajor) return;
  throw new ServerTooOldError(
    `The MongoDB server is of version ${version}; ${oldestMajor}.0 is the oldest that works.`,
    {
      details: { version },
      hint: 'Upgrade the server.',
    },
  );
}
