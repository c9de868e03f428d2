import type { Binary, ClientSession, Collection, Filter } from 'mongodb';
import type { Scope } from '../../../checkpoints/epoch.ts';
import type { Failure, LedgerChange, LedgerEntry, SequenceKey } from '../../../failures/failure.ts';
import { rankOf } from '../../../failures/sequence.ts';
import type { Position } from '../../../log/position.ts';
import type { RefKey } from '../../../log/ref.ts';
import { type PartitionId, partitionIdOf } from '../checkpoints/partition-id.ts';
import { int64, numberOf } from '../server/int64.ts';
import type { MongoDatabase } from '../server/mongo-database.ts';
import { decideLedger, type StandingEntry } from './ledger-outcome.ts';
import { fromPieces, toPieces } from './record-payload.ts';

/** The order of members matters: ranges of ids are ranges of positions. */
export type EntryId = PartitionId & { readonly offset: bigint };

/** `null`s are entries without a commit. */
export type EntryDocument = {
  _id: EntryId;
  sequence: string;
  rank: bigint;
  ref: string | null;
  version: bigint | null;
  commitId: string | null;
  failure: FailureDocument | null;
  parkedAtMs: number;
  timestamp: number;
  /** Of key and value. */
  bytes: number;
  /** How many pieces the record is in. */
  pieces: number;
};

const groupBytesMax = 8 * 1024 * 1024;

type FailureDocument = Omit<Failure, 'nextRetryAtMs'> & { readonly nextRetryAtMs: number | null };
type PieceDocument = { _id: EntryId & { readonly piece: number }; bytes: Binary | Buffer };

/** The entries of the ledger, and the records beside them in pieces, as documents. */
export class LedgerDocuments {
  readonly entries: Collection<EntryDocument>;
  readonly #pieces: Collection<PieceDocument>;

  constructor(database: MongoDatabase) {
    this.entries = database.collection<EntryDocument>('tm_failure');
    this.#pieces = database.collection<PieceDocument>('tm_failure_piece');
  }

  /** Makes the changes, one after the other, inside the session's transaction. */
  async apply(scope: Scope, changes: readonly LedgerChange[], session: ClientSession): Promise<void> {
    if (changes.length === 0) return;
    const positions = changes.map((change) => (change.kind === 'park' ? change.entry.position : change.position));
    const ids = positions.map((position) => entryIdOf(scope, position));
    const projection = { commitId: 1, version: 1, pieces: 1 } as const;
    const found = await this.entries.find({ _id: { $in: ids } }, { session, projection }).toArray();
    const outcome = decideLedger(scope, changes, found.map(toStanding));
    const removed = new Set(outcome.removes.map((position) => keyOf(entryIdOf(scope, position))));
    await this.#remove(
      found.filter(({ _id }) => removed.has(keyOf(_id))),
      session,
    );
    for (const { position, failure } of outcome.fails) {
      const id = entryIdOf(scope, position);
      await this.entries.updateOne({ _id: id }, { $set: { failure: toFailureDocument(failure) } }, { session });
    }
    if (outcome.inserts.length > 0) await this.#insert(scope, outcome.inserts, session);
  }

  /** The whole entries. One that was removed meanwhile is left out. */
  async withRecords(documents: readonly EntryDocument[]): Promise<readonly LedgerEntry[]> {
    const entries: LedgerEntry[] = [];
    for (const group of groupsOf(documents)) {
      const ids = group.flatMap(pieceIdsOf);
      const found = await this.#pieces.find({ _id: { $in: ids } }, { sort: { _id: 1 } }).toArray();
      const pieces = Map.groupBy(found, ({ _id }) => keyOf(_id));
      for (const document of group) {
        const own = pieces.get(keyOf(document._id)) ?? [];
        if (own.length < document.pieces) continue;
        const position = positionOf(document._id);
        const payload = fromPieces(own.map(({ bytes }) => (bytes instanceof Uint8Array ? bytes : bytes.value())));
        const record = { ...position, timestamp: document.timestamp, ...payload };
        entries.push({ position, ...toFacts(document), record });
      }
    }
    return entries;
  }

  /** Removes the entries of a partition at or after an offset; gives their number. */
  async clear(id: PartitionId, offset: number, session: ClientSession): Promise<number> {
    const from: EntryId = { ...id, offset: int64(offset) };
    const range = { $gte: from, $lt: { ...id, partition: id.partition + 1 } };
    const { deletedCount } = await this.entries.deleteMany({ _id: range } as Filter<EntryDocument>, { session });
    await this.#pieces.deleteMany({ _id: range } as Filter<PieceDocument>, { session });
    return deletedCount;
  }

  async #remove(found: readonly Pick<EntryDocument, '_id' | 'pieces'>[], session: ClientSession): Promise<void> {
    if (found.length === 0) return;
    await this.entries.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } }, { session });
    await this.#pieces.deleteMany({ _id: { $in: found.flatMap(pieceIdsOf) } }, { session });
  }

  async #insert(scope: Scope, entries: readonly LedgerEntry[], session: ClientSession): Promise<void> {
    const documents: EntryDocument[] = [];
    const pieceDocuments: PieceDocument[] = [];
    for (const entry of entries) {
      const pieces = toPieces(entry.record);
      const document = toDocument(scope, entry, pieces.length);
      documents.push(document);
      for (const [piece, bytes] of pieces.entries()) {
        pieceDocuments.push({ _id: { ...document._id, piece }, bytes });
      }
    }
    await this.entries.insertMany(documents, { session, ordered: true });
    await this.#pieces.insertMany(pieceDocuments, { session, ordered: true });
  }
}

export function entryIdOf(scope: Scope, position: Position): EntryId {
  return { ...partitionIdOf(scope, position), offset: int64(position.offset) };
}

/** What an entry says beside position and record. */
export function toFacts(document: EntryDocument): Omit<LedgerEntry, 'position' | 'record'> {
  const { sequence, ref, version, commitId, failure, parkedAtMs } = document;
  return {
    sequence: sequence as SequenceKey,
    ref: (ref ?? undefined) as RefKey | undefined,
    version: version === null ? undefined : numberOf(version),
    commitId: commitId ?? undefined,
    failure: toFailure(failure),
    parkedAtMs,
  };
}

function toFailure(document: FailureDocument | null): Failure | undefined {
  return document === null ? undefined : { ...document, nextRetryAtMs: document.nextRetryAtMs ?? undefined };
}

export function positionOf({ topic, partition, offset }: EntryId): Position {
  return { topic, partition, offset: numberOf(offset) };
}

function toStanding(document: Pick<EntryDocument, '_id' | 'commitId' | 'version'>): StandingEntry {
  const { _id, commitId, version } = document;
  return {
    position: positionOf(_id),
    commitId: commitId ?? undefined,
    version: version === null ? undefined : numberOf(version),
  };
}

function toDocument(scope: Scope, entry: LedgerEntry, pieces: number): EntryDocument {
  const { record } = entry;
  return {
    _id: entryIdOf(scope, entry.position),
    sequence: entry.sequence,
    rank: int64(rankOf(entry)),
    ref: entry.ref ?? null,
    version: entry.version === undefined ? null : int64(entry.version),
    commitId: entry.commitId ?? null,
    failure: entry.failure === undefined ? null : toFailureDocument(entry.failure),
    parkedAtMs: entry.parkedAtMs,
    timestamp: record.timestamp,
    bytes: bytesOf(record.key) + bytesOf(record.value),
    pieces,
  };
}

function toFailureDocument(failure: Failure): FailureDocument {
  return { ...failure, nextRetryAtMs: failure.nextRetryAtMs ?? null };
}

function bytesOf(text: string | Uint8Array | undefined): number {
  return text === undefined ? 0 : Buffer.byteLength(text);
}

function pieceIdsOf({ _id, pieces }: Pick<EntryDocument, '_id' | 'pieces'>): PieceDocument['_id'][] {
  return Array.from({ length: pieces }, (_, piece) => ({ ..._id, piece }));
}

/** What is read at once: records together may be large. */
function groupsOf(documents: readonly EntryDocument[]): readonly (readonly EntryDocument[])[] {
  const groups: EntryDocument[][] = [];
  let bytes = 0;
  for (const document of documents) {
    if (groups.length === 0 || bytes + document.bytes > groupBytesMax) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(document);
    bytes += document.bytes;
  }
  return groups;
}

function keyOf(id: EntryId): string {
  return `${id.offset}:${id.partition}:${id.topic}`;
}
