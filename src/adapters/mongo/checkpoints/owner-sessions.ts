import { randomUUID } from 'node:crypto';
import type { Binary, ClientSession, Collection } from 'mongodb';
import type { Scope } from '../../../checkpoints/epoch.ts';
import type { TopicPartition } from '../../../log/position.ts';
import type { Deadline } from '../server/deadline.ts';
import type { MongoDatabase } from '../server/mongo-database.ts';
import { hasCode, MongoCode, translated } from '../server/mongo-error.ts';
import { inScope, type PartitionId, partitionIdOf, scopedKeyOf } from './partition-id.ts';

/** A session that may have a transaction open, and the opened store it belongs to. */
type OwnSession = { readonly id: Binary; readonly store: string };

/** Who claimed a partition last, and the sessions in which an owner may have left a transaction open. */
type OwnerDocument = { _id: PartitionId; owner: string; claimedAt: Date; sessions: OwnSession[] };

/** What is kept here of a partition that is, or was, owned. */
type Held = {
  readonly id: PartitionId;
  session: ClientSession | undefined;
  /** Whether the session stands in the store, so that a successor can end what is open in it. */
  isRegistered: boolean;
  /** Whether work that was given up on may still go on in the session. */
  isDoubtful: boolean;
  /** Sessions in which such work may have left something open. */
  abandoned: readonly OwnSession[];
  /** The work that goes on in the session. One at a time. */
  tail: Promise<unknown>;
};

/** What stands in a claim's way. */
export type Predecessors = {
  /** Ends the transactions that former owners of the partition left open. */
  end(): Promise<void>;
  /** Ends all transactions of the processes of the former owners: one may hold several partitions. */
  endProcesses(): Promise<void>;
};

/**
 * An explicit session for each partition that is owned, kept until the store closes. Its id stands in a document of its
 * own (not in one a transaction may lock), so that whoever takes the partition over can end what a dead owner left open:
 * the server by itself does so only after a minute.
 */
export class OwnerSessions {
  readonly #database: MongoDatabase;
  readonly #owners: Collection<OwnerDocument>;
  /** Names this opened store among all processes. */
  readonly #store: string = randomUUID();
  readonly #held = new Map<string, Held>();

  constructor(database: MongoDatabase) {
    this.#database = database;
    this.#owners = database.collection<OwnerDocument>('tm_owner');
  }

  /**
   * Runs work in the partition's session, after what runs there already, within one deadline. Work that is given up on
   * may go on: its session is not used again, and is ended in the store before the next work begins.
   */
  async run<T>(
    scope: Scope,
    partition: TopicPartition,
    work: (session: ClientSession, deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    return this.#alone(scope, partition, async (held, deadline) => {
      const session = await this.#ready(held, deadline);
      held.isDoubtful = true;
      const working = work(session, deadline).finally(() => {
        if (held.session === session) held.isDoubtful = false;
      });
      return deadline.bound(working);
    });
  }

  /** Writes the session down as the partition's, ends those of former owners, and then does `work`. */
  async claim<T>(
    scope: Scope,
    partition: TopicPartition,
    claimed: { readonly owner: string; readonly work: (former: Predecessors, deadline: Deadline) => Promise<T> },
  ): Promise<T> {
    return this.#alone(scope, partition, async (held, deadline) => {
      const own = this.#ownOf(this.#sessionOf(held));
      const { sessions } = await deadline.bound(this.#register(held.id, own, claimed.owner));
      held.isRegistered = true;
      // The own one too: what an earlier ownership left open in it is not ours any more.
      const end = (): Promise<void> => this.#kill(sessions.map(({ id }) => id));
      await deadline.bound(end());
      const former = sessions.filter(({ id }) => id.toString('hex') !== own.id.toString('hex'));
      const endProcesses = (): Promise<void> => this.#killProcesses(new Set(former.map(({ store }) => store)));
      const result = await deadline.bound(claimed.work({ end, endProcesses }, deadline));
      await deadline.bound(this.#forget(held.id, former));
      held.abandoned = [];
      return result;
    });
  }

  /** Ends the transactions that the owners of a scope's partitions have open; a live one runs its own again. */
  async endAll(scope: Scope): Promise<void> {
    const documents = await this.#owners.find(inScope(scope)).toArray();
    await this.#kill(documents.flatMap(({ sessions }) => sessions.map(({ id }) => id)));
  }

  /** The partition's session, known to the store and free of what was left open in one before it. */
  async #ready(held: Held, deadline: Deadline): Promise<ClientSession> {
    const session = this.#sessionOf(held);
    if (held.isRegistered) return session;
    await deadline.bound(this.#register(held.id, this.#ownOf(session), undefined));
    await deadline.bound(this.#kill(held.abandoned.map(({ id }) => id)));
    await deadline.bound(this.#forget(held.id, held.abandoned));
    held.abandoned = [];
    held.isRegistered = true;
    return session;
  }

  /** A new one in place of one that may not be used. */
  #sessionOf(held: Held): ClientSession {
    if (held.session !== undefined && !held.isDoubtful) return held.session;
    if (held.session !== undefined) held.abandoned = [...held.abandoned, this.#ownOf(held.session)];
    held.session = this.#database.client.startSession();
    held.isRegistered = false;
    held.isDoubtful = false;
    return held.session;
  }

  async #alone<T>(
    scope: Scope,
    partition: TopicPartition,
    work: (held: Held, deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const held = this.#heldOf(scope, partition);
    const before = held.tail;
    const turn = Promise.withResolvers<void>();
    held.tail = turn.promise;
    const what = `writing for ${scope.subscription} in partition ${partition.partition} of ${partition.topic}`;
    try {
      await before;
      return await work(held, this.#database.deadline(what));
    } catch (error) {
      throw translated(error, what);
    } finally {
      turn.resolve();
    }
  }

  #heldOf(scope: Scope, partition: TopicPartition): Held {
    const key = scopedKeyOf(scope, partition);
    let held = this.#held.get(key);
    if (held === undefined) {
      const id = partitionIdOf(scope, partition);
      held = { id, session: undefined, isRegistered: false, isDoubtful: false, abandoned: [], tail: Promise.resolve() };
      this.#held.set(key, held);
    }
    return held;
  }

  #ownOf(session: ClientSession): OwnSession {
    const id = session.id?.id;
    if (id === undefined) throw new Error('A session that is not ended has an id.');
    return { id, store: this.#store };
  }

  /** Adds to the list, so that a lost reply, or two claims at once, leave no session unknown. */
  async #register(id: PartitionId, own: OwnSession, owner: string | undefined): Promise<OwnerDocument> {
    for (;;) {
      try {
        const document = await this.#owners.findOneAndUpdate(
          { _id: id },
          {
            $addToSet: { sessions: own },
            ...(owner === undefined ? {} : { $set: { owner }, $currentDate: { claimedAt: true } }),
          },
          { upsert: true, returnDocument: 'after', promoteBuffers: false },
        );
        if (document !== null) return document;
      } catch (error) {
        // Two upserts at once: the other one was faster.
        if (!hasCode(error, MongoCode.duplicateKey)) throw error;
      }
    }
  }

  async #forget(id: PartitionId, sessions: readonly OwnSession[]): Promise<void> {
    if (sessions.length === 0) return;
    const ids = sessions.map((session) => session.id);
    await this.#owners.updateOne({ _id: id }, { $pull: { sessions: { id: { $in: ids } } } });
  }

  async #kill(ids: readonly Binary[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#database.db.admin().command({ killSessions: ids.map((id) => ({ id })) });
  }

  async #killProcesses(stores: ReadonlySet<string>): Promise<void> {
    const documents = await this.#owners.find({ 'sessions.store': { $in: [...stores] } }).toArray();
    const sessions = documents.flatMap((document) => document.sessions);
    await this.#kill(sessions.filter(({ store }) => stores.has(store)).map(({ id }) => id));
  }
}
