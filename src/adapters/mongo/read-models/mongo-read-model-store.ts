import type { ClientSession, Document } from 'mongodb';
import type { Scope } from '../../../checkpoints/epoch.ts';
import type { ModelShape } from '../../../read-models/model-shape.ts';
import type { CommitBatch, CommitResult, ReadModelStore, ReadRow } from '../../../read-models/read-model-store.ts';
import type { RowValue } from '../../../read-models/write.ts';
import { assert } from '../../../runtime/assert.ts';
import { CheckpointDocuments } from '../checkpoints/checkpoint-documents.ts';
import type { OwnerSessions } from '../checkpoints/owner-sessions.ts';
import { LedgerDocuments } from '../failures/ledger-documents.ts';
import type { MongoDatabase } from '../server/mongo-database.ts';
import { type Ending, inTransaction } from '../server/transaction.ts';
import { ModelCollections } from './model-collections.ts';
import { collectionOf } from './model-names.ts';
import { PlanWriter } from './plan-writer.ts';
import { liveField, type RowDocument, valueOf } from './row-document.ts';

type StoreParts = { readonly database: MongoDatabase; readonly sessions: OwnerSessions };
type Attempt = { readonly session: ClientSession; readonly hidesFirst: boolean };

/** Read models in MongoDB: a collection for each generation, a view named as the model for readers. */
export class MongoReadModelStore implements ReadModelStore {
  readonly #database: MongoDatabase;
  readonly #sessions: OwnerSessions;
  readonly #checkpoints: CheckpointDocuments;
  readonly #ledger: LedgerDocuments;
  readonly #models: ModelCollections;
  readonly #writer: PlanWriter;

  constructor({ database, sessions }: StoreParts) {
    this.#database = database;
    this.#sessions = sessions;
    this.#checkpoints = new CheckpointDocuments(database);
    this.#ledger = new LedgerDocuments(database);
    this.#models = new ModelCollections(database);
    this.#writer = new PlanWriter(database);
  }

  /** Throws `MODEL_NAME_RESERVED`, `MODEL_HELD`, `INDEX_VIOLATED`, `INDEX_CONFLICT`, `RIGHTS_MISSING`. */
  async prepare(scope: Scope, model: ModelShape): Promise<void> {
    await this.#database.call(`preparing the read model ${model.name}`, () => this.#models.make(scope, model));
  }

  async commit(batch: CommitBatch): Promise<CommitResult> {
    const [first] = batch.advances;
    assert(first !== undefined, 'a commit moves a checkpoint');
    return this.#sessions.run(first.fence.scope, first.fence, async (session, deadline) => {
      const run = (hidesFirst: boolean): Promise<CommitResult> =>
        inTransaction(session, deadline, () => this.#commit(batch, { session, hidesFirst }));
      const result = await run(false);
      // A value may have met the row that gives it up in this very transaction.
      const again = result.kind === 'refused' && result.refusals.some(({ code }) => code === 'ROW_NOT_UNIQUE');
      const settled = again ? await run(true) : result;
      if (settled.kind !== 'fenced') return settled;
      const { scope } = first.fence;
      return { ...settled, stored: await this.#checkpoints.read(scope, settled.partition) };
    });
  }

  async readRow(model: string, id: string): Promise<RowValue | undefined> {
    return this.#database.call('reading a row', async () => {
      const generation = await this.#models.servingGeneration(model);
      if (generation === undefined) return undefined;
      const rows = this.#database.collection<RowDocument>(collectionOf(model, generation));
      const document = await rows.findOne({ _id: id, [liveField]: true });
      return document === null ? undefined : valueOf(document);
    });
  }

  async readRows(
    model: string,
    { afterId, limit }: { readonly afterId: string | undefined; readonly limit: number },
  ): Promise<readonly ReadRow[]> {
    return this.#database.call('reading rows', async () => {
      const generation = await this.#models.servingGeneration(model);
      if (generation === undefined) return [];
      const rows = this.#database.collection<RowDocument>(collectionOf(model, generation));
      const beyond: Document = afterId === undefined ? {} : { _id: { $gt: afterId } };
      const documents = await rows
        .find({ ...beyond, [liveField]: true })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray();
      return documents.map((document) => ({ id: document._id, row: valueOf(document) }));
    });
  }

  async listModels(): Promise<readonly string[]> {
    return this.#database.call('listing read models', () => this.#models.names());
  }

  /** The body of the transaction: the checkpoints first, so that nothing of a fenced owner's is even tried. */
  async #commit(
    { scope, advances, plan, ledger }: CommitBatch,
    { session, hidesFirst }: Attempt,
  ): Promise<Ending<CommitResult>> {
    for (const { fence, offset } of advances) {
      if (await this.#checkpoints.move({ fence, offset, completed: [] }, session)) continue;
      const partition = { topic: fence.topic, partition: fence.partition };
      return { isCommitted: false, result: { kind: 'fenced', partition, stored: undefined } };
    }
    const refusals = plan === undefined ? [] : await this.#writer.write(plan, { scope, session, hidesFirst });
    if (refusals.length > 0) return { isCommitted: false, result: { kind: 'refused', refusals } };
    await this.#ledger.apply(scope, ledger, session);
    return { isCommitted: true, result: { kind: 'committed' } };
  }
}
