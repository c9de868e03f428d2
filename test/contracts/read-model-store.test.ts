import { storeAdapters } from './adapters.ts';
import { holdTo, mustNotHold } from './contract.ts';
import { readModelStoreContract } from './read-model-store.contract.ts';
import { agreeingStores, idleStores } from './stores-subject.ts';

for (const [adapter, open] of Object.entries(storeAdapters)) holdTo(adapter, readModelStoreContract, open);

mustNotHold('stores that do nothing', readModelStoreContract, idleStores);
mustNotHold('stores that say yes to everything', readModelStoreContract, agreeingStores);
