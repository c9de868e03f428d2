import type { AnyBulkWriteOperation, ClientSession, Collection } from 'mongodb';
import type { Scope } from '../../../checkpoints/epoch.ts';
import type { ModelShape } from '../../../read-models/model-shape.ts';
import { refusalsOf } from '../../../read-models/row-refusal.ts';
import { type RowChange, rowKeyOf, type StoredRow } from '../../../read-models/stored-row.ts';
import type { FoundRows, FoundSources, Refusal, WritePlan } from '../../../read-models/write-plan.ts';
import { assert } from '../../../runtime/assert.ts';
import type { MongoDatabase } from '../server/mongo-database.ts';
import { refusedDocument } from '../server/mongo-error.ts';
import { problemOfDocument } from './document-check.ts';
import { collectionOf } from './model-names.ts';
import { liveField, projectionFor, type RowDocument, toRowDocument, toStoredRow } from './row-document.ts';
import { reasonOfProblem, reasonOfRefusal } from './row-refusal.ts';
import { SourceDocuments } from './source-documents.ts';

export type WriteOptions = {
  readonly scope: Scope;
  readonly session: ClientSession;
  /** All rows that are replaced leave the unique indexes first: values may pass from one to another. */
  readonly hidesFirst: boolean;
};

/** The rows of one model that a plan writes. */
type ModelChanges = {
  readonly model: ModelShape;
  readonly inserts: readonly RowDocument[];
  readonly replaces: readonly RowDocument[];
  readonly deletes: readonly string[];
};

/** Carries out plans, inside the session's transaction. */
export class PlanWriter {
  readonly #database: MongoDatabase;
  readonly #sources: SourceDocuments;

  constructor(database: MongoDatabase) {
    this.#database = database;
    this.#sources = new SourceDocuments(database);
  }

  /** Why rows of the plan cannot stand; empty: all is written. */
  async write(plan: WritePlan, options: WriteOptions): Promise<readonly Refusal[]> {
    const { scope, session } = options;
    const found = await this.#sources.find(scope, plan.sources, session);
    const rows = await this.#find(plan, found, options);
    const decision = plan.decide(found, rows);
    if (decision.kind === 'refused') {
      assert(decision.refusals.length > 0, 'a refused plan names what is refused');
      return decision.refusals;
    }
    const models = changesByModel(decision.rows);
    const refusals = [...models.flatMap((each) => problems(plan, each)), ...this.#sources.refusals(decision.sources)];
    if (refusals.length > 0) return refusals;
    for (const changes of models) {
      const refused = await this.#writeRows(plan, changes, options);
      if (refused.length > 0) return refused;
    }
    await this.#sources.put(scope, decision.sources, { found, session });
    return [];
  }

  async #find(plan: WritePlan, sources: FoundSources, { scope, session }: WriteOptions): Promise<FoundRows> {
    const rows = new Map<string, StoredRow>();
    for (const keys of Map.groupBy(plan.rows(sources), ({ model }) => model.name).values()) {
      const model = keys[0]?.model;
      if (model === undefined) continue;
      const ids = keys.map(({ id }) => id);
      const options = { session, projection: projectionFor(model.kind), batchSize: ids.length + 1 };
      const documents = await this.#collectionOf(scope, model)
        .find({ _id: { $in: ids } }, options)
        .toArray();
      for (const document of documents) {
        rows.set(rowKeyOf(model, document._id), toStoredRow(model.kind, document));
      }
    }
    return rows;
  }

  async #writeRows(
    plan: WritePlan,
    { model, inserts, replaces, deletes }: ModelChanges,
    { scope, session, hidesFirst }: WriteOptions,
  ): Promise<readonly Refusal[]> {
    const collection = this.#collectionOf(scope, model);
    if (deletes.length > 0) await collection.deleteMany({ _id: { $in: [...deletes] } }, { session });
    if (hidesFirst && replaces.length > 0) {
      const ids = replaces.map(({ _id }) => _id);
      await collection.updateMany({ _id: { $in: ids } }, { $set: { [liveField]: false } }, { session });
    }
    let writing: readonly RowDocument[] = replaces;
    try {
      if (replaces.length > 0) {
        const { matchedCount } = await collection.bulkWrite(replaces.map(replacement), { session, ordered: true });
        assert(matchedCount === replaces.length, 'a row that is replaced was found before', { model: model.name });
      }
      writing = inserts;
      if (inserts.length > 0) await collection.insertMany([...inserts], { session, ordered: true });
      return [];
    } catch (error) {
      const refused = refusedDocument(error);
      const row = refused && writing[refused.index];
      if (refused === undefined || row === undefined) throw error;
      const key = { model, id: row._id };
      return refusalsOf(plan, key, reasonOfRefusal(key, refused));
    }
  }

  #collectionOf({ generation }: Scope, model: ModelShape): Collection<RowDocument> {
    return this.#database.collection<RowDocument>(collectionOf(model.name, generation));
  }
}

function changesByModel(changes: readonly RowChange[]): readonly ModelChanges[] {
  return [...Map.groupBy(changes, ({ model }) => model.name).values()].flatMap((own) => {
    const model = own[0]?.model;
    if (model === undefined) return [];
    const inserts: RowDocument[] = [];
    const replaces: RowDocument[] = [];
    const deletes: string[] = [];
    for (const change of own) {
      if (change.kind === 'delete') deletes.push(change.id);
      else if (change.kind === 'insert') inserts.push(toRowDocument(change.row));
      else replaces.push(toRowDocument(change.row));
    }
    return [{ model, inserts, replaces, deletes }];
  });
}

function problems(plan: WritePlan, { model, inserts, replaces }: ModelChanges): readonly Refusal[] {
  return [...inserts, ...replaces].flatMap((document) => {
    const problem = problemOfDocument(document);
    if (problem === undefined) return [];
    const key = { model, id: document._id };
    return refusalsOf(plan, key, reasonOfProblem(key, problem));
  });
}

function replacement(document: RowDocument): AnyBulkWriteOperation<RowDocument> {
  const filter = { _id: document._id };
  // As a plain replacement the server takes such a name for an operator.
  const isNamedAsOperator = Object.keys(document).some((name) => name.startsWith('$'));
  if (isNamedAsOperator) return { updateOne: { filter, update: [{ $replaceWith: { $literal: document } }] } };
  return { replaceOne: { filter, replacement: document } };
}
