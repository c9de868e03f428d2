import { rowBytesMax as rowBytesMaxOfStores } from '../../read-models/row-refusal.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Stores } from '../../subscriptions/stores.ts';
import { MemoryCheckpointStore } from './memory-checkpoint-store.ts';
import { MemoryFailureLedger } from './memory-failure-ledger.ts';
import { MemoryReadModelStore } from './memory-read-model-store.ts';
import { MemoryTables } from './memory-tables.ts';

/** The stores of a worker in memory, with the exact semantics of their ports, and what they hold. */
export type MemoryStores = Omit<Stores, 'log'> & {
  readonly checkpoints: MemoryCheckpointStore;
  readonly readModels: MemoryReadModelStore;
  readonly tables: MemoryTables;
};

/** Empty stores. Nothing in them takes time or fails; that is what wires are for. */
export function memoryStores(options: { readonly clock: Clock; readonly rowBytesMax?: number }): MemoryStores {
  const { clock, rowBytesMax = rowBytesMaxOfStores } = options;
  const tables = new MemoryTables();
  const checkpoints = new MemoryCheckpointStore(tables, clock);
  const ledger = new MemoryFailureLedger(tables);
  return {
    tables,
    checkpoints,
    ledger,
    readModels: new MemoryReadModelStore({ tables, checkpoints, ledger, rowBytesMax }),
  };
}
