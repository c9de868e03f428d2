import { storeAdapters } from './adapters.ts';
import { holdTo, mustNotHold } from './contract.ts';
import { failureLedgerContract } from './failure-ledger.contract.ts';
import { agreeingStores, idleStores } from './stores-subject.ts';

for (const [adapter, open] of Object.entries(storeAdapters)) holdTo(adapter, failureLedgerContract, open);

mustNotHold('stores that do nothing', failureLedgerContract, idleStores);
mustNotHold('stores that say yes to everything', failureLedgerContract, agreeingStores);
