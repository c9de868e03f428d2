import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { inject } from 'vitest';
import { type MongoOptions, type MongoStores, openMongo } from '../../../src/adapters/mongo/index.ts';
import { nodeRuntime } from '../../../src/adapters/node/node-runtime.ts';
import { silentLogger } from '../../../src/runtime/logger.ts';
import type { Opened } from '../../contracts/contract.ts';

/** The machine's clock and chance; nothing is said. */
export const runtime = nodeRuntime(silentLogger);

/** `undefined` where there is no server: then these tests are skipped. */
export const mongodb = inject('mongodb');

/** A database of its own, gone at the end. */
export async function freshStores(
  options: Partial<MongoOptions> = {},
): Promise<Opened<MongoStores> & { readonly database: string }> {
  const database = options.database ?? freshName();
  const url = options.url ?? mongodb ?? '';
  const subject = await openMongo({ service: 'eshop', runtime, ...options, url, database });
  return {
    subject,
    database,
    [Symbol.asyncDispose]: async () => {
      await subject.close();
      await using client = new MongoClient(url);
      await client.db(database).dropDatabase();
    },
  };
}

export function freshName(): string {
  return `tm-${randomUUID().slice(0, 13)}`;
}
