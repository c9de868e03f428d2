import type { Checkpoint } from '../../checkpoints/checkpoint.ts';
import type {
  CheckpointStore,
  Claim,
  ListedCheckpoint,
  Reset,
  Save,
  SaveResult,
} from '../../checkpoints/checkpoint-store.ts';
import type { Scope } from '../../checkpoints/epoch.ts';
import type { Initialisation, PartitionStart } from '../../checkpoints/initialisation.ts';
import { addedOrigin } from '../../checkpoints/origin.ts';
import type { TopicPartition } from '../../log/position.ts';
import { CheckpointRows, checkpointColumns, toCheckpoint } from './checkpoint-rows.ts';
import { allRows, integerOf, oneRow, textOf } from './database/columns.ts';
import type { Database } from './database/database.ts';

/** Checkpoints and initialisations in the embedded file. */
export class EmbeddedCheckpointStore implements CheckpointStore {
  readonly #database: Database;
  readonly #rows: CheckpointRows;
  readonly #nowMs: () => number;

  constructor(database: Database, nowMs: () => number) {
    this.#database = database;
    this.#rows = new CheckpointRows(database, nowMs);
    this.#nowMs = nowMs;
  }

  async initialisation(scope: Scope, topic: string): Promise<Initialisation | undefined> {
    return this.#database.read(() => this.#readInitialisation(scope, topic));
  }

  async initialise(scope: Scope, initialisation: Initialisation): Promise<Initialisation> {
    const { topic, identity, starts, origin, isHistoryIncomplete } = initialisation;
    return this.#database.write(() => {
      this.#database
        .statement(
          `INSERT OR IGNORE INTO tm_initialisation
             (subscription, generation, topic, identity, starts, origin, history_incomplete)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(
          scope.subscription,
          scope.generation,
          topic,
          identity,
          JSON.stringify(starts),
          origin,
          isHistoryIncomplete ? 1 : 0,
        );
      return this.#readInitialisation(scope, topic) ?? initialisation;
    });
  }

  async claim(
    scope: Scope,
    partition: TopicPartition & { readonly lowIfAdded: number },
    owner: string,
  ): Promise<Claim> {
    return this.#database.write((): Claim => {
      if (!this.#raiseEpoch(scope, partition, owner)) {
        const initialisation = this.#readInitialisation(scope, partition.topic);
        if (initialisation === undefined) return { kind: 'refused', reason: 'not initialised' };
        const start = initialisation.starts.find((each) => each.partition === partition.partition);
        this.#insert(scope, partition, {
          offset: start?.offset ?? partition.lowIfAdded,
          origin: start === undefined ? addedOrigin : initialisation.origin,
          owner,
        });
      }
      const checkpoint = this.#rows.read(scope, partition);
      return checkpoint === undefined
        ? { kind: 'refused', reason: 'not initialised' }
        : { kind: 'claimed', checkpoint };
    });
  }

  async save(save: Save): Promise<SaveResult> {
    return this.#database.write((): SaveResult => {
      if (this.#rows.move(save)) return { kind: 'saved' };
      return { kind: 'fenced', stored: this.#rows.read(save.fence.scope, save.fence) };
    });
  }

  async read(scope: Scope, partition: TopicPartition): Promise<Checkpoint | undefined> {
    return this.#database.read(() => this.#rows.read(scope, partition));
  }

  /** Also clears the ledger's entries at or after the new start: they come again from the log. */
  async reset(reset: Reset): Promise<void> {
    const { scope, topic, partition, offset, who } = reset;
    await this.#database.write(() => {
      const before = this.#rows.read(scope, reset);
      const origin = `reset to ${offset} by ${who}`;
      if (before === undefined) {
        this.#insert(scope, reset, { offset, origin, owner: '' });
      } else {
        this.#database
          .statement(
            `UPDATE tm_checkpoint SET epoch = epoch + 1, sequence = 0, position = ?, completed = '[]', origin = ?, saved_at = ?
             WHERE subscription = ? AND generation = ? AND topic = ? AND partition = ?`,
          )
          .run(offset, origin, this.#nowMs(), scope.subscription, scope.generation, topic, partition);
      }
      const { changes: cleared } = this.#database
        .statement(
          `DELETE FROM tm_failure
           WHERE subscription = ? AND generation = ? AND topic = ? AND partition = ? AND position >= ?`,
        )
        .run(scope.subscription, scope.generation, topic, partition, offset);
      this.#audit(reset, { topic, partition, from: before?.offset, to: offset, clearedFailures: Number(cleared) });
    });
  }

  async drop({ subscription, generation }: Scope): Promise<void> {
    await this.#database.write(() => {
      // An owner of before must stay fenced when the subscription is made again: its epoch is not used again.
      this.#database
        .statement(
          `INSERT OR REPLACE INTO tm_dropped(subscription, generation, topic, partition, epoch)
           SELECT subscription, generation, topic, partition, epoch FROM tm_checkpoint
           WHERE subscription = ? AND generation = ?`,
        )
        .run(subscription, generation);
      for (const table of ['tm_checkpoint', 'tm_initialisation']) {
        this.#database
          .statement(`DELETE FROM ${table} WHERE subscription = ? AND generation = ?`)
          .run(subscription, generation);
      }
    });
  }

  async list(): Promise<readonly ListedCheckpoint[]> {
    return this.#database.read(() => {
      const statement = this.#database.statement(
        `SELECT ${checkpointColumns}, subscription, generation, owner FROM tm_checkpoint
         ORDER BY subscription, generation, topic, partition`,
      );
      return allRows(statement).map((row) => ({
        ...toCheckpoint(row),
        scope: { subscription: textOf(row[8]), generation: integerOf(row[9]) },
        owner: textOf(row[10]),
      }));
    });
  }

  #readInitialisation({ subscription, generation }: Scope, topic: string): Initialisation | undefined {
    const row = oneRow(
      this.#database.statement(
        `SELECT identity, starts, origin, history_incomplete FROM tm_initialisation
         WHERE subscription = ? AND generation = ? AND topic = ?`,
      ),
      subscription,
      generation,
      topic,
    );
    return (
      row && {
        topic,
        identity: textOf(row[0]),
        starts: JSON.parse(textOf(row[1])) as readonly PartitionStart[],
        origin: textOf(row[2]),
        isHistoryIncomplete: row[3] === 1,
      }
    );
  }

  #raiseEpoch({ subscription, generation }: Scope, { topic, partition }: TopicPartition, owner: string): boolean {
    const { changes } = this.#database
      .statement(
        `UPDATE tm_checkpoint SET epoch = epoch + 1, sequence = 0, owner = ?
         WHERE subscription = ? AND generation = ? AND topic = ? AND partition = ?`,
      )
      .run(owner, subscription, generation, topic, partition);
    return changes === 1;
  }

  #insert(
    { subscription, generation }: Scope,
    { topic, partition }: TopicPartition,
    first: { readonly offset: number; readonly origin: string; readonly owner: string },
  ): void {
    this.#database
      .statement(
        `INSERT INTO tm_checkpoint
           (subscription, generation, topic, partition, epoch, sequence, position, completed, origin, owner, saved_at)
         VALUES (?1, ?2, ?3, ?4, 1 + coalesce((SELECT epoch FROM tm_dropped
             WHERE subscription = ?1 AND generation = ?2 AND topic = ?3 AND partition = ?4), 0), 0, ?5, '[]', ?6, ?7, ?8)`,
      )
      .run(subscription, generation, topic, partition, first.offset, first.origin, first.owner, this.#nowMs());
  }

  #audit({ scope, who, why }: Reset, details: Readonly<Record<string, unknown>>): void {
    this.#database
      .statement(
        `INSERT INTO tm_audit(at, action, who, why, subscription, generation, details)
         VALUES (?, 'reset', ?, ?, ?, ?, ?)`,
      )
      .run(this.#nowMs(), who, why, scope.subscription, scope.generation, JSON.stringify(details));
  }
}
