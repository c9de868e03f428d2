import { MongoClient } from 'mongodb';
import { describe, expect, test } from 'vitest';
import {
  DatabaseForeignError,
  openMongo,
  SchemaNewerError,
  StandaloneServerError,
  StoreRefusedError,
} from '../../../src/adapters/mongo/index.ts';
import { UnavailableError } from '../../../src/runtime/errors.ts';
import { silentLogger } from '../../../src/runtime/logger.ts';
import { freePort } from '../../services/free-port.ts';
import { MongodServer } from '../../services/mongod-server.ts';
import { freshName, freshStores, mongodb, runtime } from './mongo-stores.ts';

describe.skipIf(mongodb === undefined)('opening MongoDB', () => {
  const url = mongodb ?? '';

  test('tells what the server is, and may be done again and at once', async () => {
    await using stores = await freshStores();
    expect(stores.subject.server.version).toMatch(/^\d+\.\d+\.\d+/);
    const again = () => openMongo({ url, database: stores.database, service: 'eshop', runtime });
    await using one = await again();
    const [two, three] = await Promise.all([again(), again()]);
    await two[Symbol.asyncDispose]();
    await three[Symbol.asyncDispose]();
    await expect(one.ping()).resolves.toBeUndefined();
  });

  test("refuses another service's database", async () => {
    await using stores = await freshStores();
    const opening = openMongo({ url, database: stores.database, service: 'billing', runtime });
    await expect(opening).rejects.toBeInstanceOf(DatabaseForeignError);
    await expect(opening).rejects.toThrow(/eshop.*billing/);
  });

  test('refuses a database of a newer schema', async () => {
    await using stores = await freshStores();
    await using client = new MongoClient(url);
    await client
      .db(stores.database)
      .collection('tm_meta')
      .updateOne({}, { $set: { schema: 99 } });
    const opening = openMongo({ url, database: stores.database, service: 'eshop', runtime });
    await expect(opening).rejects.toBeInstanceOf(SchemaNewerError);
  });

  test('refuses a standalone server', async () => {
    await using server = await MongodServer.start({ isStandalone: true });
    const opening = openMongo({ url: server.url, database: freshName(), service: 'eshop', runtime });
    await expect(opening).rejects.toBeInstanceOf(StandaloneServerError);
  });

  test('refuses wrong credentials at once', async () => {
    const guarded = url.replace('mongodb://', 'mongodb://ann:wrong@');
    const startedAt = performance.now();
    const opening = openMongo({ url: guarded, database: freshName(), service: 'eshop', runtime });
    await expect(opening).rejects.toBeInstanceOf(StoreRefusedError);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test.each([
    ['a URL that is none', { url: 'http://x' }],
    ['a database of an impossible name', { database: 'a.b' }],
    ['a database of a name that only the server knows to be impossible', { database: 'a$b"' }],
  ])('refuses %s', async (_what, wrong) => {
    const opening = openMongo({ url, database: freshName(), service: 'eshop', runtime, ...wrong });
    await expect(opening).rejects.toBeInstanceOf(StoreRefusedError);
  });

  test('tries for a while where nobody answers, says so, and gives up', async () => {
    const said: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => void said.push(message) };
    const opening = openMongo({
      url: `mongodb://127.0.0.1:${await freePort()}/?directConnection=true`,
      database: freshName(),
      service: 'eshop',
      runtime: { ...runtime, logger },
      connectMaxMs: 1_500,
      selectionTimeoutMs: 300,
    });
    await expect(opening).rejects.toBeInstanceOf(UnavailableError);
    expect(said.length).toBeGreaterThan(1);
  });

  test('gives up when it is told to', async () => {
    const opening = openMongo({
      url: `mongodb://127.0.0.1:${await freePort()}/?directConnection=true`,
      database: freshName(),
      service: 'eshop',
      runtime,
      connectMaxMs: Number.POSITIVE_INFINITY,
      selectionTimeoutMs: 100,
      signal: AbortSignal.timeout(400),
    });
    await expect(opening).rejects.toThrow(Error);
  });
});
