import type { ClientSession, Collection, Document } from 'mongodb';
import type { Checkpoint } from '../../../checkpoints/checkpoint.ts';
import type {
  CheckpointStore,
  Claim,
  ListedCheckpoint,
  Reset,
  Save,
  SaveResult,
} from '../../../checkpoints/checkpoint-store.ts';
import type { Scope } from '../../../checkpoints/epoch.ts';
import type { Initialisation } from '../../../checkpoints/initialisation.ts';
import { addedOrigin } from '../../../checkpoints/origin.ts';
import type { TopicPartition } from '../../../log/position.ts';
import { LedgerDocuments } from '../failures/ledger-documents.ts';
import type { Deadline } from '../server/deadline.ts';
import { int64, numberOf } from '../server/int64.ts';
import type { MongoDatabase } from '../server/mongo-database.ts';
import { hasCode, isLocked, MongoCode } from '../server/mongo-error.ts';
import { inTransaction } from '../server/transaction.ts';
import { type CheckpointDocument, CheckpointDocuments, toCheckpoint } from './checkpoint-documents.ts';
import type { OwnerSessions, Predecessors } from './owner-sessions.ts';
import { inScope, type PartitionId, partitionIdOf } from './partition-id.ts';

/** How long a claim waits for a checkpoint that a transaction holds, before it looks again for whose that is. */
const lockedMaxMs = 500;

type InitialisationDocument = Omit<Initialisation, 'topic' | 'starts'> & {
  _id: Scope & { readonly topic: string };
  starts: readonly { readonly partition: number; readonly offset: bigint }[];
};
type DroppedDocument = { _id: PartitionId; epoch: bigint };

type StoreParts = { readonly database: MongoDatabase; readonly sessions: OwnerSessions };
type Start = { readonly offset: number; readonly origin: string };

/** Checkpoints and initialisations in MongoDB. */
export class MongoCheckpointStore implements CheckpointStore {
  readonly #database: MongoDatabase;
  readonly #sessions: OwnerSessions;
  readonly #checkpoints: CheckpointDocuments;
  readonly #initialisations: Collection<InitialisationDocument>;
  readonly #dropped: Collection<DroppedDocument>;
  readonly #audit: Collection;
  readonly #ledger: LedgerDocuments;

  constructor({ database, sessions }: StoreParts) {
    this.#database = database;
    this.#sessions = sessions;
    this.#checkpoints = new CheckpointDocuments(database);
    this.#initialisations = database.collection('tm_initialisation');
    this.#dropped = database.collection('tm_dropped');
    this.#audit = database.collection('tm_audit');
    this.#ledger = new LedgerDocuments(database);
  }

  async initialisation(scope: Scope, topic: string): Promise<Initialisation | undefined> {
    return this.#database.call('reading an initialisation', () => this.#readInitialisation(scope, topic));
  }

  async initialise(scope: Scope, initialisation: Initialisation): Promise<Initialisation> {
    const { topic, starts, identity, origin, isHistoryIncomplete } = initialisation;
    return this.#database.call('writing an initialisation', async () => {
      try {
        await this.#initialisations.insertOne({
          _id: initialisationId(scope, topic),
          identity,
          starts: starts.map(({ partition, offset }) => ({ partition, offset: int64(offset) })),
          origin,
          isHistoryIncomplete,
        });
        return initialisation;
      } catch (error) {
        if (!hasCode(error, MongoCode.duplicateKey)) throw error;
        return (await this.#readInitialisation(scope, topic)) ?? initialisation;
      }
    });
  }

  /** Ends what former owners left open first, so that a dead one does not hold the partition. */
  async claim(
    scope: Scope,
    partition: TopicPartition & { readonly lowIfAdded: number },
    owner: string,
  ): Promise<Claim> {
    const id = partitionIdOf(scope, partition);
    return this.#sessions.claim(scope, partition, {
      owner,
      work: async (former, deadline): Promise<Claim> => {
        const raised = await this.#raiseEpoch(id, { owner, former, deadline });
        if (raised !== undefined) return { kind: 'claimed', checkpoint: raised };
        const start = await this.#startOf(scope, partition);
        if (start === undefined) return { kind: 'refused', reason: 'not initialised' };
        const checkpoint = await this.#raiseEpoch(id, { owner, former, deadline, start });
        return checkpoint === undefined
          ? { kind: 'refused', reason: 'not initialised' }
          : { kind: 'claimed', checkpoint };
      },
    });
  }

  async save(save: Save): Promise<SaveResult> {
    return this.#database.call('saving a checkpoint', async (): Promise<SaveResult> => {
      if (await this.#checkpoints.move(save)) return { kind: 'saved' };
      return { kind: 'fenced', stored: await this.#checkpoints.read(save.fence.scope, save.fence) };
    });
  }

  async read(scope: Scope, partition: TopicPartition): Promise<Checkpoint | undefined> {
    return this.#database.call('reading a checkpoint', () => this.#checkpoints.read(scope, partition));
  }

  /** Also clears the ledger's entries at or after the new start: they come again from the log. */
  async reset(reset: Reset): Promise<void> {
    const { scope, offset, who } = reset;
    await this.#transaction('resetting a checkpoint', scope, async (session) => {
      const id = partitionIdOf(scope, reset);
      const before = await this.#checkpoints.collection.findOne({ _id: id }, { session });
      const start = { offset, origin: `reset to ${offset} by ${who}` };
      if (before === null) {
        await this.#checkpoints.collection.insertOne(await this.#first(id, start, session), { session });
      } else {
        await this.#checkpoints.collection.updateOne({ _id: id }, resetTo(start), { session });
      }
      const clearedFailures = await this.#ledger.clear(id, offset, session);
      const { topic, partition } = reset;
      await this.#audit.insertOne(
        {
          at: await this.#now(session),
          action: 'reset',
          who,
          why: reset.why,
          ...scope,
          details: { topic, partition, from: before?.position ?? null, to: int64(offset), clearedFailures },
        },
        { session },
      );
    });
  }

  async drop(scope: Scope): Promise<void> {
    await this.#transaction('dropping checkpoints', scope, async (session) => {
      // An owner of before must stay fenced when the subscription is made again: its epoch is not used again.
      const gone = await this.#checkpoints.collection.find(inScope(scope), { session }).toArray();
      if (gone.length > 0) {
        await this.#dropped.deleteMany({ _id: { $in: gone.map(({ _id }) => _id) } }, { session });
        await this.#dropped.insertMany(
          gone.map(({ _id, epoch }) => ({ _id, epoch })),
          { session },
        );
      }
      await this.#checkpoints.collection.deleteMany(inScope(scope), { session });
      await this.#initialisations.deleteMany(inScope(scope), { session });
    });
  }

  async list(): Promise<readonly ListedCheckpoint[]> {
    return this.#database.call('listing checkpoints', async () => {
      const documents = await this.#checkpoints.collection.find().sort({ _id: 1 }).toArray();
      return documents.map((document) => ({
        ...toCheckpoint(document),
        scope: { subscription: document._id.subscription, generation: document._id.generation },
        owner: document.owner,
      }));
    });
  }

  async #readInitialisation(scope: Scope, topic: string): Promise<Initialisation | undefined> {
    const document = await this.#initialisations.findOne({ _id: initialisationId(scope, topic) });
    if (document === null) return undefined;
    const { identity, starts, origin, isHistoryIncomplete } = document;
    return {
      topic,
      identity,
      starts: starts.map(({ partition, offset }) => ({ partition, offset: numberOf(offset) })),
      origin,
      isHistoryIncomplete,
    };
  }

  async #startOf(
    scope: Scope,
    { topic, partition, lowIfAdded }: TopicPartition & { readonly lowIfAdded: number },
  ): Promise<Start | undefined> {
    const initialisation = await this.#readInitialisation(scope, topic);
    if (initialisation === undefined) return undefined;
    const start = initialisation.starts.find((each) => each.partition === partition);
    if (start === undefined) return { offset: lowIfAdded, origin: addedOrigin };
    return { offset: start.offset, origin: initialisation.origin };
  }

  /** The checkpoint under its next epoch. Without a start it must be there already, else `undefined`. */
  async #raiseEpoch(
    id: PartitionId,
    { owner, former, deadline, start }: Raise & { readonly start?: Start },
  ): Promise<Checkpoint | undefined> {
    const dropped = start === undefined ? null : await this.#dropped.findOne({ _id: id });
    const first = start === undefined ? {} : firstValues(start, dropped?.epoch ?? int64(0));
    const update = [{ $set: { ...first, sequence: int64(0), owner: { $literal: owner } } }, raised];
    for (let attempt = 1; ; attempt += 1) {
      try {
        const document = await this.#checkpoints.collection.findOneAndUpdate({ _id: id }, update, {
          upsert: start !== undefined,
          returnDocument: 'after',
          maxTimeMS: lockedMaxMs,
        });
        return document === null ? undefined : toCheckpoint(document);
      } catch (error) {
        const isAgain = isLocked(error) || hasCode(error, MongoCode.duplicateKey);
        if (!isAgain || deadline.leftMs === 0) throw error;
        await (attempt === 1 ? former.end() : former.endProcesses());
      }
    }
  }

  async #first(id: PartitionId, { offset, origin }: Start, session: ClientSession): Promise<CheckpointDocument> {
    const dropped = await this.#dropped.findOne({ _id: id }, { session });
    return {
      _id: id,
      epoch: (dropped?.epoch ?? int64(0)) + int64(1),
      sequence: int64(0),
      position: int64(offset),
      completed: [],
      origin,
      owner: '',
      savedAt: await this.#now(session),
    };
  }

  /** The store's clock. */
  async #now(session: ClientSession): Promise<Date> {
    const pipeline = [{ $limit: 1 }, { $project: { _id: 0, now: '$$NOW' } }];
    const [found] = await this.#database.collection('tm_meta').aggregate(pipeline, { session }).toArray();
    return found?.['now'] as Date;
  }

  /** A transaction of an operator's: not in the session of an owner, and not held up by a dead one. */
  async #transaction(what: string, scope: Scope, body: (session: ClientSession) => Promise<void>): Promise<void> {
    const session = this.#database.client.startSession();
    try {
      await this.#database.call(what, async (deadline) => {
        await this.#sessions.endAll(scope);
        await inTransaction(session, deadline, async () => {
          await body(session);
          return { isCommitted: true, result: undefined };
        });
      });
    } finally {
      void session.endSession();
    }
  }
}

type Raise = { readonly owner: string; readonly former: Predecessors; readonly deadline: Deadline };

const raised = { $set: { epoch: { $add: ['$epoch', int64(1)] } } };

/** What a checkpoint begins with, where it is not there. */
function firstValues({ offset, origin }: Start, epoch: bigint): Document {
  return {
    epoch: { $ifNull: ['$epoch', epoch] },
    position: { $ifNull: ['$position', int64(offset)] },
    completed: { $ifNull: ['$completed', []] },
    origin: { $ifNull: ['$origin', { $literal: origin }] },
    savedAt: { $ifNull: ['$savedAt', '$$NOW'] },
  };
}

function resetTo({ offset, origin }: Start): Document[] {
  const moved = { sequence: int64(0), position: int64(offset), completed: [], origin: { $literal: origin } };
  return [{ $set: { ...moved, epoch: { $add: ['$epoch', int64(1)] }, savedAt: '$$NOW' } }];
}

function initialisationId({ subscription, generation }: Scope, topic: string): InitialisationDocument['_id'] {
  return { subscription, generation, topic };
}
