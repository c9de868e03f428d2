import type { Collection, Document } from 'mongodb';
import { indexNameOf } from '../../../read-models/index-name.ts';
import { IndexViolatedError } from '../../../read-models/model-error.ts';
import type { IndexShape, ModelShape } from '../../../read-models/model-shape.ts';
import { messageOf, TidemarkError } from '../../../runtime/errors.ts';
import { hasCode, MongoCode } from '../server/mongo-error.ts';
import { liveField, storedPath } from './row-document.ts';

/** An index that somebody else made is in the way of a declared one. */
export class IndexConflictError extends TidemarkError {
  readonly code = 'INDEX_CONFLICT';
}

/** Names of indexes we made; what others made is left alone. */
const ownPrefix = 'declared__';

/** The least value of each type a field may have but null: together they say that there is a value. */
const leastValues: readonly unknown[] = [
  '',
  Number.NEGATIVE_INFINITY,
  Number.NaN,
  false,
  new Date(-8_640_000_000_000_000),
  {},
  [],
];

/** Makes the declared indexes that are missing; drops those of ours that are not declared any more. */
export async function makeIndexes(collection: Collection, model: ModelShape): Promise<void> {
  const declared = new Map(model.indexes.map((index) => [`${ownPrefix}${indexNameOf(index)}`, index]));
  const existing = new Set((await collection.indexes()).map(({ name }) => name ?? ''));
  for (const name of existing) {
    if (name.startsWith(ownPrefix) && !declared.has(name)) await collection.dropIndex(name);
  }
  for (const [name, index] of declared) {
    if (!existing.has(name)) await makeIndex(collection, { model: model.name, name, index });
  }
}

type Declared = { readonly model: string; readonly name: string; readonly index: IndexShape };

async function makeIndex(collection: Collection, { model, name, index }: Declared): Promise<void> {
  const keys = Object.entries(index.fields).map(([field, direction]) => [storedPath(field), direction] as const);
  try {
    await collection.createIndex(new Map(keys), {
      name,
      unique: index.isUnique,
      partialFilterExpression: index.isUnique ? liveWith(keys.map(([path]) => path)) : { [liveField]: true },
    });
  } catch (error) {
    const details = { model, index: name, collection: collection.collectionName };
    if (hasCode(error, MongoCode.duplicateKey)) throw new IndexViolatedError(details, error);
    if (!hasCode(error, MongoCode.indexOptionsConflict) && !hasCode(error, MongoCode.indexKeySpecsConflict))
      throw error;
    throw new IndexConflictError(
      `The index ${name} of ${model} cannot be made beside one that ${collection.collectionName} has: ${messageOf(error)}.`,
      { details, hint: 'Drop the index that was made by hand; the declared one takes its place.', cause: error },
    );
  }
}

/** Live rows that have a value in each of the fields: those without one do not violate a unique index. */
function liveWith(paths: readonly string[]): Document {
  const hasValue = paths.map((path) => ({ $or: leastValues.map((least) => ({ [path]: { $gte: least } })) }));
  return { $and: [{ [liveField]: true }, ...hasValue] };
}
