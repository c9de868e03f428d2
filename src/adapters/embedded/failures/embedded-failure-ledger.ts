import type { Scope } from '../../../checkpoints/epoch.ts';
import type { LedgerEntry, SequenceKey } from '../../../failures/failure.ts';
import type {
  EntryPage,
  FailureLedger,
  LedgerFilter,
  ListedEntry,
  ParkedSequence,
} from '../../../failures/failure-ledger.ts';
import { retryOf } from '../../../failures/head-retry.ts';
import type { Position, TopicPartition } from '../../../log/position.ts';
import { allRows, eachRow, integerOf, oneRow, textOf } from '../database/columns.ts';
import type { Database } from '../database/database.ts';
import { entryColumns, toEntry, toFacts, toFailure } from './ledger-rows.ts';

const order = 'rank, topic, partition, position';

/** The failure ledger in the embedded file, as it is read. */
export class EmbeddedFailureLedger implements FailureLedger {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async membership(scope: Scope, { topic, partition }: TopicPartition): Promise<readonly ParkedSequence[]> {
    const { subscription, generation } = scope;
    return this.#database.read(() => {
      const sequences = this.#database.statement(
        `SELECT s.sequence,
           (SELECT count(*) FROM tm_failure WHERE subscription = ?1 AND generation = ?2 AND sequence = s.sequence),
           (SELECT failure FROM tm_failure WHERE subscription = ?1 AND generation = ?2 AND sequence = s.sequence
            ORDER BY ${order} LIMIT 1),
           (SELECT topic = ?3 AND partition = ?4 FROM tm_failure
            WHERE subscription = ?1 AND generation = ?2 AND sequence = s.sequence ORDER BY ${order} LIMIT 1)
         FROM (SELECT DISTINCT sequence FROM tm_failure
               WHERE subscription = ?1 AND generation = ?2 AND topic = ?3 AND partition = ?4) s`,
      );
      return allRows(sequences, subscription, generation, topic, partition).map(
        ([sequence, entries, failure, isHeadHere]) => ({
          sequence: textOf(sequence) as SequenceKey,
          entries: integerOf(entries),
          retry: retryOf(toFailure(failure)),
          isHeadHere: integerOf(isHeadHere) === 1,
        }),
      );
    });
  }

  async elsewhere(scope: Scope, { topic, partition }: TopicPartition): Promise<readonly SequenceKey[]> {
    const { subscription, generation } = scope;
    return this.#database.read(() => {
      const sequences = this.#database.statement(
        `SELECT DISTINCT sequence FROM tm_failure f WHERE subscription = ?1 AND generation = ?2
           AND NOT EXISTS (SELECT 1 FROM tm_failure WHERE subscription = ?1 AND generation = ?2
                           AND sequence = f.sequence AND topic = ?3 AND partition = ?4)`,
      );
      return allRows(sequences, subscription, generation, topic, partition).map(
        ([sequence]) => textOf(sequence) as SequenceKey,
      );
    });
  }

  async entries(
    { subscription, generation }: Scope,
    sequence: SequenceKey,
    { limit, bytes }: EntryPage,
  ): Promise<readonly LedgerEntry[]> {
    return this.#database.read(() => {
      const statement = this.#database.statement(
        `SELECT bytes, ${entryColumns} FROM tm_failure WHERE subscription = ? AND generation = ? AND sequence = ?
         ORDER BY ${order} LIMIT ?`,
      );
      const entries: LedgerEntry[] = [];
      let left = bytes;
      for (const [size, ...row] of eachRow(statement, subscription, generation, sequence, limit)) {
        left -= integerOf(size);
        if (entries.length > 0 && left < 0) break;
        entries.push(toEntry(row));
      }
      return entries;
    });
  }

  async entryAt({ subscription, generation }: Scope, position: Position): Promise<LedgerEntry | undefined> {
    return this.#database.read(() => {
      const statement = this.#database.statement(
        `SELECT ${entryColumns} FROM tm_failure
         WHERE subscription = ? AND generation = ? AND topic = ? AND partition = ? AND position = ?`,
      );
      const row = oneRow(statement, subscription, generation, position.topic, position.partition, position.offset);
      return row && toEntry(row);
    });
  }

  async list({ subscription, ref }: LedgerFilter, limit: number): Promise<readonly ListedEntry[]> {
    const conditions = ['1'];
    const parameters: string[] = [];
    if (subscription !== undefined) {
      conditions.push('subscription = ?');
      parameters.push(subscription);
    }
    if (ref !== undefined) {
      conditions.push('ref = ?');
      parameters.push(ref);
    }
    return this.#database.read(() => {
      const statement = this.#database.statement(
        `SELECT subscription, generation, topic, partition, position, bytes, sequence, ref, version, commit_id, failure,
           parked_at FROM tm_failure WHERE ${conditions.join(' AND ')}
         ORDER BY subscription, generation, topic, partition, position LIMIT ?`,
      );
      return allRows(statement, ...parameters, limit).map((row) => ({
        scope: { subscription: textOf(row[0]), generation: integerOf(row[1]) },
        position: { topic: textOf(row[2]), partition: integerOf(row[3]), offset: integerOf(row[4]) },
        bytes: integerOf(row[5]),
        ...toFacts(row.slice(6)),
      }));
    });
  }

  async count({ subscription, generation }: Scope): Promise<number> {
    return this.#database.read(() => {
      const statement = this.#database.statement(
        'SELECT count(*) FROM tm_failure WHERE subscription = ? AND generation = ?',
      );
      return integerOf(oneRow(statement, subscription, generation)?.[0]);
    });
  }
}
