import type { Checkpoint } from '../../../checkpoints/checkpoint.ts';
import type { Scope } from '../../../checkpoints/epoch.ts';
import type { TopicPartition } from '../../../log/position.ts';
import type { ModelShape } from '../../../read-models/model-shape.ts';
import type { CommitBatch, CommitResult, ReadModelStore, ReadRow } from '../../../read-models/read-model-store.ts';
import type { RowValue } from '../../../read-models/write.ts';
import { assert } from '../../../runtime/assert.ts';
import type { CheckpointRows } from '../checkpoint-rows.ts';
import { allRows, oneRow, textOf } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import type { LedgerRows } from '../failures/ledger-rows.ts';
import { hasModel, makeModel, quoted } from './model-tables.ts';
import { PlanWriter } from './plan-writer.ts';
import { decodeRow } from './row-json.ts';

type StoreParts = {
  readonly database: Database;
  readonly checkpoints: CheckpointRows;
  readonly ledger: LedgerRows;
};

/** Read models in the embedded file: a table for each generation, a view named as the model for readers. */
export class EmbeddedReadModelStore implements ReadModelStore {
  readonly #database: Database;
  readonly #checkpoints: CheckpointRows;
  readonly #ledger: LedgerRows;
  readonly #writers = new Map<string, PlanWriter>();

  constructor({ database, checkpoints, ledger }: StoreParts) {
    this.#database = database;
    this.#checkpoints = checkpoints;
    this.#ledger = ledger;
  }

  /** Throws `MODEL_NAME_RESERVED`, `MODEL_HELD`, `INDEX_VIOLATED`. */
  async prepare(scope: Scope, model: ModelShape): Promise<void> {
    await this.#database.write(() => makeModel(this.#database, scope, model));
    // What is kept of the model's tables knows its indexes.
    this.#writers.clear();
  }

  async commit(batch: CommitBatch): Promise<CommitResult> {
    assert(batch.advances.length > 0, 'a commit moves a checkpoint');
    return this.#database.write(
      () => this.#commit(batch),
      ({ kind }) => kind === 'committed',
    );
  }

  async readRow(model: string, id: string): Promise<RowValue | undefined> {
    return this.#database.read(() => {
      if (!hasModel(this.#database, model)) return undefined;
      const row = oneRow(this.#database.statement(`SELECT value FROM ${quoted(model)} WHERE id = ?`), id);
      return row && decodeRow(textOf(row[0]));
    });
  }

  async readRows(
    model: string,
    { afterId, limit }: { readonly afterId: string | undefined; readonly limit: number },
  ): Promise<readonly ReadRow[]> {
    return this.#database.read(() => {
      if (!hasModel(this.#database, model)) return [];
      const from = afterId === undefined ? '' : 'WHERE id > ?';
      const statement = this.#database.statement(`SELECT id, value FROM ${quoted(model)} ${from} ORDER BY id LIMIT ?`);
      const parameters = afterId === undefined ? [limit] : [afterId, limit];
      return allRows(statement, ...parameters).map(([id, value]) => ({
        id: textOf(id),
        row: decodeRow(textOf(value)),
      }));
    });
  }

  async listModels(): Promise<readonly string[]> {
    return this.#database.read(() =>
      allRows(this.#database.statement('SELECT name FROM tm_model ORDER BY name')).map(([name]) => textOf(name)),
    );
  }

  #commit({ scope, advances, plan, ledger }: CommitBatch): CommitResult {
    for (const { fence, offset } of advances) {
      if (!this.#checkpoints.move({ fence, offset, completed: [] })) return this.#fenced(fence.scope, fence);
    }
    const refusals = plan === undefined ? [] : this.#writerOf(scope).write(plan);
    if (refusals.length > 0) return { kind: 'refused', refusals };
    for (const change of ledger) this.#ledger.apply(scope, change);
    return { kind: 'committed' };
  }

  #fenced(scope: Scope, { topic, partition }: TopicPartition): CommitResult {
    const stored: Checkpoint | undefined = this.#checkpoints.read(scope, { topic, partition });
    return { kind: 'fenced', partition: { topic, partition }, stored };
  }

  #writerOf(scope: Scope): PlanWriter {
    const key = `${scope.generation}:${scope.subscription}`;
    let writer = this.#writers.get(key);
    if (writer === undefined) {
      writer = new PlanWriter(this.#database, scope);
      this.#writers.set(key, writer);
    }
    return writer;
  }
}
