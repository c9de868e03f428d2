import type { ClientSession, Collection } from 'mongodb';
import type { Scope } from '../../../checkpoints/epoch.ts';
import type { RefKey } from '../../../log/ref.ts';
import { rowBytesMax, sourceTooLarge } from '../../../read-models/row-refusal.ts';
import type { SourceRecord } from '../../../read-models/source-record.ts';
import type { FoundSources, Refusal } from '../../../read-models/write-plan.ts';
import { int64 } from '../server/int64.ts';
import type { MongoDatabase } from '../server/mongo-database.ts';

type SourceDocument = {
  _id: Scope & { readonly ref: string };
  version: bigint;
  /** JSON: ids and fields of any name are keys in it. */
  record: string;
};

/** The source records of all subscriptions, as documents of `tm_source`. */
export class SourceDocuments {
  readonly #collection: Collection<SourceDocument>;

  constructor(database: MongoDatabase) {
    this.#collection = database.collection<SourceDocument>('tm_source');
  }

  async find(scope: Scope, refs: readonly RefKey[], session: ClientSession): Promise<FoundSources> {
    if (refs.length === 0) return new Map();
    const ids = refs.map((ref) => sourceIdOf(scope, ref));
    const documents = await this.#collection
      .find({ _id: { $in: ids } }, { session, batchSize: ids.length + 1 })
      .toArray();
    return new Map(documents.map(({ _id, record }) => [_id.ref as RefKey, toSource(_id.ref as RefKey, record)]));
  }

  /** Which of the records are too large to be stored. */
  refusals(sources: readonly SourceRecord[]): readonly Refusal[] {
    return sources.flatMap((source) => {
      const record = toText(source);
      // Three bytes for each unit of text at most.
      if (record.length * 3 <= rowBytesMax) return [];
      const bytes = Buffer.byteLength(record);
      return bytes <= rowBytesMax ? [] : [sourceTooLarge(source.ref, bytes)];
    });
  }

  async put(
    scope: Scope,
    sources: readonly SourceRecord[],
    { found, session }: { readonly found: FoundSources; readonly session: ClientSession },
  ): Promise<void> {
    const documents = sources.map((source) => toDocument(scope, source));
    const absent = documents.filter(({ _id }) => !found.has(_id.ref as RefKey));
    const older = documents.filter(({ _id }) => found.has(_id.ref as RefKey));
    if (absent.length > 0) await this.#collection.insertMany(absent, { session, ordered: true });
    if (older.length === 0) return;
    const replacements = older.map(({ _id, ...replacement }) => ({ replaceOne: { filter: { _id }, replacement } }));
    await this.#collection.bulkWrite(replacements, { session, ordered: true });
  }
}

function sourceIdOf({ subscription, generation }: Scope, ref: RefKey): SourceDocument['_id'] {
  return { subscription, generation, ref };
}

function toDocument(scope: Scope, source: SourceRecord): SourceDocument {
  return { _id: sourceIdOf(scope, source.ref), version: int64(source.version), record: toText(source) };
}

/** Without its ref, which stands in the id. */
function toText(source: SourceRecord): string {
  return JSON.stringify({ ...source, ref: undefined });
}

function toSource(ref: RefKey, text: string): SourceRecord {
  return { ref, ...(JSON.parse(text) as Omit<SourceRecord, 'ref'>) };
}
