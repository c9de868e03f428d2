import { storeAdapters } from './adapters.ts';
import { checkpointStoreContract } from './checkpoint-store.contract.ts';
import { holdTo, mustNotHold } from './contract.ts';
import { agreeingStores, idleStores } from './stores-subject.ts';

for (const [adapter, open] of Object.entries(storeAdapters)) {
  holdTo(adapter, checkpointStoreContract, async () => {
    const stores = await open();
    return {
      subject: stores.subject.checkpoints,
      [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
    };
  });
}

mustNotHold('a store that does nothing', checkpointStoreContract, () => idleStores().checkpoints);
mustNotHold('a store that says yes to everything', checkpointStoreContract, () => agreeingStores().checkpoints);
