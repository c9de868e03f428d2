import { describe } from 'vitest';
import { checkpointStoreContract } from '../../contracts/checkpoint-store.contract.ts';
import { holdTo } from '../../contracts/contract.ts';
import { failureLedgerContract } from '../../contracts/failure-ledger.contract.ts';
import { readModelStoreContract } from '../../contracts/read-model-store.contract.ts';
import { freshStores, mongodb } from './mongo-stores.ts';

describe.skipIf(mongodb === undefined)('the stores of MongoDB', () => {
  holdTo('checkpoints in MongoDB', checkpointStoreContract, async () => {
    const stores = await freshStores();
    return {
      subject: stores.subject.checkpoints,
      [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
    };
  });
  holdTo('read models in MongoDB', readModelStoreContract, freshStores);
  holdTo('the failure ledger in MongoDB', failureLedgerContract, freshStores);
});
