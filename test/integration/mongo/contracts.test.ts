import { type Db, MongoClient } from 'mongodb';
import { afterAll, describe } from 'vitest';
import { type MongoStores, openMongo } from '../../../src/adapters/mongo/index.ts';
import { checkpointStoreContract } from '../../contracts/checkpoint-store.contract.ts';
import { holdTo, type Opened } from '../../contracts/contract.ts';
import { failureLedgerContract } from '../../contracts/failure-ledger.contract.ts';
import { readModelStoreContract } from '../../contracts/read-model-store.contract.ts';
import { freshName, mongodb, runtime } from './mongo-stores.ts';

const url = mongodb ?? '';
const database = freshName();

/** The stores opened anew, on a database that is emptied afterwards: making one takes longer than most checks. */
async function opened(): Promise<Opened<MongoStores>> {
  const subject = await openMongo({ url, database, service: 'eshop', runtime });
  return {
    subject,
    [Symbol.asyncDispose]: async () => {
      await subject.close();
      await using client = new MongoClient(url);
      await emptied(client.db(database));
    },
  };
}

async function emptied(db: Db): Promise<void> {
  const names = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
  const isKept = (name: string): boolean => name === 'tm_meta' || name.startsWith('system.');
  await Promise.all(
    names
      .filter((name) => !isKept(name))
      .map((name) => (name.startsWith('tm_') ? db.collection(name).deleteMany({}) : db.dropCollection(name))),
  );
}

describe.skipIf(mongodb === undefined)('the stores of MongoDB', () => {
  afterAll(async () => {
    await using client = new MongoClient(url);
    await client.db(database).dropDatabase();
  });

  holdTo('checkpoints in MongoDB', checkpointStoreContract, async () => {
    const stores = await opened();
    return {
      subject: stores.subject.checkpoints,
      [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
    };
  });
  holdTo('read models in MongoDB', readModelStoreContract, opened);
  holdTo('the failure ledger in MongoDB', failureLedgerContract, opened);
});
