import type { Checkpoint, Run } from '../../checkpoints/checkpoint.ts';
import type { Fence, Scope } from '../../checkpoints/epoch.ts';
import { savedOrigin } from '../../checkpoints/origin.ts';
import type { TopicPartition } from '../../log/position.ts';
import { type Columns, integerOf, oneRow, textOf } from './database/columns.ts';
import type { Database } from './database/database.ts';

export const checkpointColumns = 'topic, partition, epoch, sequence, position, completed, origin, saved_at';

/** What a checkpoint moves to. */
export type Move = { readonly fence: Fence; readonly offset: number; readonly completed: readonly Run[] };

/** Statements on single checkpoints; they run inside the caller's transaction or read. */
export class CheckpointRows {
  readonly #database: Database;
  readonly #nowMs: () => number;

  constructor(database: Database, nowMs: () => number) {
    this.#database = database;
    this.#nowMs = nowMs;
  }

  read({ subscription, generation }: Scope, { topic, partition }: TopicPartition): Checkpoint | undefined {
    const statement = this.#database.statement(
      `SELECT ${checkpointColumns} FROM tm_checkpoint WHERE subscription = ? AND generation = ? AND topic = ? AND partition = ?`,
    );
    const row = oneRow(statement, subscription, generation, topic, partition);
    return row && toCheckpoint(row);
  }

  /** Whether it stood at exactly the fence and not beyond `offset`; then it moved. */
  move({ fence, offset, completed }: Move): boolean {
    const { scope, topic, partition, epoch, sequence } = fence;
    const { changes } = this.#database
      .statement(
        `UPDATE tm_checkpoint SET sequence = sequence + 1, position = ?1, completed = ?2, saved_at = ?3,
           origin = CASE WHEN position = ?1 AND completed = ?2 THEN origin ELSE '${savedOrigin}' END
         WHERE subscription = ?4 AND generation = ?5 AND topic = ?6 AND partition = ?7
           AND epoch = ?8 AND sequence = ?9 AND position <= ?1`,
      )
      .run(
        offset,
        JSON.stringify(completed),
        this.#nowMs(),
        scope.subscription,
        scope.generation,
        topic,
        partition,
        epoch,
        sequence,
      );
    return changes === 1;
  }
}

export function toCheckpoint(row: Columns): Checkpoint {
  return {
    topic: textOf(row[0]),
    partition: integerOf(row[1]),
    epoch: integerOf(row[2]),
    sequence: integerOf(row[3]),
    offset: integerOf(row[4]),
    completed: JSON.parse(textOf(row[5])) as readonly Run[],
    origin: textOf(row[6]),
    savedAt: integerOf(row[7]),
  };
}
