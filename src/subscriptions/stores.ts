import type { CheckpointStore } from '../checkpoints/checkpoint-store.ts';
import type { FailureLedger } from '../failures/failure-ledger.ts';
import type { LogSource } from '../log/log-source.ts';
import type { ReadModelStore } from '../read-models/read-model-store.ts';

/** The ports a worker runs on. */
export type Stores = {
  readonly log: LogSource;
  readonly checkpoints: CheckpointStore;
  readonly readModels: ReadModelStore;
  readonly ledger: FailureLedger;
};
