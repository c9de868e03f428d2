import type { Document, Filter } from 'mongodb';
import type { Scope } from '../../../checkpoints/epoch.ts';
import type { LedgerEntry, SequenceKey } from '../../../failures/failure.ts';
import type {
  EntryPage,
  FailureLedger,
  LedgerFilter,
  ListedEntry,
  ParkedSequence,
} from '../../../failures/failure-ledger.ts';
import type { HeadRetry } from '../../../failures/head-retry.ts';
import type { Position, TopicPartition } from '../../../log/position.ts';
import { inScope } from '../checkpoints/partition-id.ts';
import type { MongoDatabase } from '../server/mongo-database.ts';
import { type EntryDocument, entryIdOf, LedgerDocuments, positionOf, toFacts } from './ledger-documents.ts';

/** The index that has a scope's sequences, each in its order. */
export const sequenceIndex = {
  '_id.subscription': 1,
  '_id.generation': 1,
  sequence: 1,
  rank: 1,
  '_id.topic': 1,
  '_id.partition': 1,
  '_id.offset': 1,
} as const;

const inOrder = { sequence: 1, rank: 1, '_id.topic': 1, '_id.partition': 1, '_id.offset': 1 } as const;

type SequenceSummary = {
  readonly _id: string;
  /** Of the head's failure, if it has one. */
  readonly attempts?: number | null;
  readonly nextRetryAtMs?: number | null;
  readonly entries: number;
  readonly isHeadHere: boolean;
};

/** The failure ledger in MongoDB, as it is read. */
export class MongoFailureLedger implements FailureLedger {
  readonly #database: MongoDatabase;
  readonly #documents: LedgerDocuments;

  constructor(database: MongoDatabase) {
    this.#database = database;
    this.#documents = new LedgerDocuments(database);
  }

  async membership(scope: Scope, partition: TopicPartition): Promise<readonly ParkedSequence[]> {
    const sequences = await this.#sequences(scope, partition, { isHere: true });
    return sequences.map((summary) => ({
      sequence: summary._id as SequenceKey,
      entries: summary.entries,
      retry: toRetry(summary),
      isHeadHere: summary.isHeadHere,
    }));
  }

  async elsewhere(scope: Scope, partition: TopicPartition): Promise<readonly SequenceKey[]> {
    const sequences = await this.#sequences(scope, partition, { isHere: false });
    return sequences.map(({ _id }) => _id as SequenceKey);
  }

  async entries(scope: Scope, sequence: SequenceKey, { limit, bytes }: EntryPage): Promise<readonly LedgerEntry[]> {
    return this.#database.call('reading a sequence of the ledger', async () => {
      const filter: Filter<EntryDocument> = { ...inScope(scope), sequence };
      for (;;) {
        const found = await this.#documents.entries.find(filter, { sort: inOrder, limit }).toArray();
        const entries = await this.#documents.withRecords(upTo(bytes, found));
        // All of them may have been removed in between; that says nothing of what comes after them.
        if (entries.length > 0 || found.length === 0) return entries;
      }
    });
  }

  async entryAt(scope: Scope, position: Position): Promise<LedgerEntry | undefined> {
    return this.#database.call('reading an entry of the ledger', async () => {
      const found = await this.#documents.entries.findOne({ _id: entryIdOf(scope, position) });
      const [entry] = await this.#documents.withRecords(found === null ? [] : [found]);
      return entry;
    });
  }

  async list({ subscription, ref }: LedgerFilter, limit: number): Promise<readonly ListedEntry[]> {
    const filter: Filter<EntryDocument> = {
      ...(subscription === undefined ? {} : { '_id.subscription': subscription }),
      ...(ref === undefined ? {} : { ref }),
    };
    return this.#database.call('listing the ledger', async () => {
      const found = await this.#documents.entries.find(filter).sort({ _id: 1 }).limit(limit).toArray();
      return found.map((document) => ({
        scope: { subscription: document._id.subscription, generation: document._id.generation },
        position: positionOf(document._id),
        bytes: document.bytes,
        ...toFacts(document),
      }));
    });
  }

  async count(scope: Scope): Promise<number> {
    return this.#database.call('counting the ledger', () => this.#documents.entries.countDocuments(inScope(scope)));
  }

  /** The scope's sequences with or without entries in the partition. */
  async #sequences(
    scope: Scope,
    { topic, partition }: TopicPartition,
    wanted: { readonly isHere: boolean },
  ): Promise<readonly SequenceSummary[]> {
    const isHere = {
      $and: [{ $eq: ['$_id.topic', { $literal: topic }] }, { $eq: ['$_id.partition', partition] }],
    };
    const pipeline: Document[] = [
      { $match: inScope(scope) },
      { $sort: inOrder },
      {
        $group: {
          _id: '$sequence',
          entries: { $sum: 1 },
          attempts: { $first: '$failure.attempts' },
          nextRetryAtMs: { $first: '$failure.nextRetryAtMs' },
          isHeadHere: { $first: isHere },
          isHere: { $max: isHere },
        },
      },
      { $match: wanted },
      { $sort: { _id: 1 } },
    ];
    return this.#database.call('reading the membership of the ledger', () =>
      this.#documents.entries.aggregate<SequenceSummary>(pipeline, { allowDiskUse: true }).toArray(),
    );
  }
}

function toRetry({ attempts, nextRetryAtMs }: SequenceSummary): HeadRetry | undefined {
  if (attempts === null || attempts === undefined) return undefined;
  return { attempts, nextRetryAtMs: nextRetryAtMs ?? undefined };
}

/** The first documents whose records have about so many bytes; one in any case. */
function upTo(bytes: number, documents: readonly EntryDocument[]): readonly EntryDocument[] {
  let left = bytes;
  return documents.filter((document, n) => {
    left -= document.bytes;
    return n === 0 || left >= 0;
  });
}
