import type { Advance } from '../checkpoints/advance.ts';
import type { Checkpoint } from '../checkpoints/checkpoint.ts';
import type { Scope } from '../checkpoints/epoch.ts';
import type { LedgerChange } from '../failures/failure.ts';
import type { TopicPartition } from '../log/position.ts';
import type { ModelShape } from './model-shape.ts';
import type { RowValue } from './write.ts';
import type { Refusal, WritePlan } from './write-plan.ts';

export type CommitBatch = {
  readonly scope: Scope;
  /** The checkpoints that move (≥ 1): each must stand at its fence, or nothing is written. */
  readonly advances: readonly Advance[];
  readonly plan: WritePlan | undefined;
  readonly ledger: readonly LedgerChange[];
};

export type CommitResult =
  | { readonly kind: 'committed' }
  /** Nothing was written. `stored` is what stands there now. */
  | { readonly kind: 'fenced'; readonly partition: TopicPartition; readonly stored: Checkpoint | undefined }
  /** Nothing was written; each refusal names an aggregate to take apart. */
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[] };

export type ReadRow = { readonly id: string; readonly row: RowValue };

/**
 * Keeps read models, source records, and moves checkpoints and the ledger with them.
 * `commit` is one transaction: it moves (epoch, sequence n → n + 1, offset) of each advance, then writes what the plan
 * decides and the ledger changes, or nothing at all. `UnavailableError` is an unknown outcome: repeat the same batch; a
 * stored sequence of n + 1 under the own epoch is the own lost reply.
 */
export interface ReadModelStore {
  /** Makes the model's generation, its view for readers and its indexes if they are not there. Idempotent. */
  prepare(scope: Scope, model: ModelShape): Promise<void>;
  commit(batch: CommitBatch): Promise<CommitResult>;
  /** What readers see: one row of the serving generation. */
  readRow(model: string, id: string): Promise<RowValue | undefined>;
  /** What readers see, ordered by id, beyond `afterId`, at most `limit`. */
  readRows(
    model: string,
    page: { readonly afterId: string | undefined; readonly limit: number },
  ): Promise<readonly ReadRow[]>;
  /** Names of the read models this store holds. */
  listModels(): Promise<readonly string[]>;
}
