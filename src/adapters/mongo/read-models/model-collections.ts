import type { Collection } from 'mongodb';
import type { Scope } from '../../../checkpoints/epoch.ts';
import { ModelHeldError, ModelKindChangedError, ModelNameReservedError } from '../../../read-models/model-error.ts';
import type { ModelShape } from '../../../read-models/model-shape.ts';
import type { MongoDatabase } from '../server/mongo-database.ts';
import { hasCode, MongoCode } from '../server/mongo-error.ts';
import { makeIndexes } from './model-indexes.ts';
import { assertNameIsFree, collectionOf } from './model-names.ts';
import { liveField, markField } from './row-document.ts';

/** A listed model: who writes it, and the generation that its view shows. */
type ModelDocument = { _id: string; subscription: string; generation: number; kind: string };

/** What there is of read models: their list, the collections of their generations, their views and indexes. */
export class ModelCollections {
  readonly #database: MongoDatabase;
  readonly #models: Collection<ModelDocument>;

  constructor(database: MongoDatabase) {
    this.#database = database;
    this.#models = database.collection<ModelDocument>('tm_model');
  }

  /** Makes what is missing of the model's generation; drops indexes of ours that are not declared any more. */
  async make({ subscription, generation }: Scope, model: ModelShape): Promise<void> {
    assertNameIsFree(model.name);
    await this.#hold({ _id: model.name, subscription, generation, kind: model.kind });
    const name = collectionOf(model.name, generation);
    await this.#database.makeCollection(name);
    await makeIndexes(this.#database.collection(name), model);
    await this.#makeView(model.name, name);
  }

  /** The generation that readers see; `undefined`: there is no such model. */
  async servingGeneration(model: string): Promise<number | undefined> {
    return (await this.#models.findOne({ _id: model }))?.generation;
  }

  async names(): Promise<readonly string[]> {
    const documents = await this.#models.find().sort({ _id: 1 }).toArray();
    return documents.map(({ _id }) => _id);
  }

  async #hold(document: ModelDocument): Promise<void> {
    try {
      await this.#models.insertOne(document);
      return;
    } catch (error) {
      if (!hasCode(error, MongoCode.duplicateKey)) throw error;
    }
    const { _id: model, subscription, generation, kind } = document;
    const listed = await this.#models.findOne({ _id: model });
    if (listed === null) return;
    const { subscription: heldBy, kind: stored } = listed;
    if (heldBy !== subscription) throw new ModelHeldError({ model, heldBy, subscription });
    if (listed.generation !== generation || stored === kind) return;
    throw new ModelKindChangedError({ model, stored, declared: kind });
  }

  /** Shows live rows without what the store keeps beside them. A filter on it reaches the indexes below. */
  async #makeView(model: string, viewOn: string): Promise<void> {
    const pipeline = [{ $match: { [liveField]: true } }, { $project: { [markField]: 0 } }];
    try {
      await this.#database.db.createCollection(model, { viewOn, pipeline });
    } catch (error) {
      if (!hasCode(error, MongoCode.namespaceExists)) throw error;
      const [found] = await this.#database.db.listCollections({ name: model }).toArray();
      if (found?.type === 'view') return;
      throw new ModelNameReservedError(`There is a collection ${model} in the database that is no read model.`, {
        details: { model },
        hint: 'Give the read model another name, or move the collection away.',
        cause: error,
      });
    }
  }
}
