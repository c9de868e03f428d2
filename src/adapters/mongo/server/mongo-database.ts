import { type Collection, type Db, type Document, type MongoClient, ReadConcern } from 'mongodb';
import { Deadline, type StoreRuntime } from './deadline.ts';
import { hasCode, MongoCode, translated } from './mongo-error.ts';

export type MongoDatabaseParts = {
  readonly client: MongoClient;
  readonly name: string;
  readonly runtime: StoreRuntime;
  /** How long an operation, or a whole transaction, may take. */
  readonly deadlineMs: number;
};

/** One database of a server: everything in it is read and written at the primary, and to the majority. */
export class MongoDatabase {
  readonly client: MongoClient;
  readonly db: Db;
  readonly runtime: StoreRuntime;
  readonly deadlineMs: number;

  constructor({ client, name, runtime, deadlineMs }: MongoDatabaseParts) {
    this.client = client;
    this.runtime = runtime;
    this.deadlineMs = deadlineMs;
    this.db = client.db(name, {
      readConcern: new ReadConcern('majority'),
      writeConcern: { w: 'majority', wtimeoutMS: deadlineMs },
      readPreference: 'primary',
      // 64-bit integers of rows must not lose digits.
      useBigInt64: true,
    });
  }

  collection<Stored extends Document>(name: string): Collection<Stored> {
    return this.db.collection<Stored>(name);
  }

  /** Makes a collection that is not there; several processes may do so at once. */
  async makeCollection(name: string): Promise<void> {
    try {
      await this.db.createCollection(name);
    } catch (error) {
      if (!hasCode(error, MongoCode.namespaceExists)) throw error;
    }
  }

  deadline(what: string): Deadline {
    return new Deadline(this.runtime, this.deadlineMs, what);
  }

  /** Runs operations outside a transaction, within a deadline. Throws errors of this package only. */
  async call<T>(what: string, operation: (deadline: Deadline) => Promise<T>): Promise<T> {
    const deadline = this.deadline(what);
    try {
      return await deadline.bound(operation(deadline));
    } catch (error) {
      throw translated(error, what);
    }
  }
}
