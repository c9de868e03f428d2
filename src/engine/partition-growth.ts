import type { CheckpointStore } from '../checkpoints/checkpoint-store.ts';
import type { Scope } from '../checkpoints/epoch.ts';
import type { Initialisation } from '../checkpoints/initialisation.ts';
import type { LogSource } from '../log/log-source.ts';
import type { TopicPartition } from '../log/position.ts';

/** An older partition, and where its log ended when the new one was noticed. */
type OlderEnd = TopicPartition & { readonly end: number };

/** Whether the topic got the partition after the subscription's start in it was recorded. */
export function isAdded({ starts }: Initialisation, { partition }: TopicPartition): boolean {
  return starts.length > 0 && starts.every((start) => start.partition !== partition);
}

/**
 * Commits of one aggregate stand in an older partition before the growth and in the new one after it: the new one waits
 * until the older ones have passed the ends they had when it was noticed. By whom they are followed does not matter; what
 * they parked is in the ledger by then.
 */
export class OlderPartitions {
  readonly #checkpoints: CheckpointStore;
  readonly #scope: Scope;
  readonly #ends: readonly OlderEnd[];

  private constructor(checkpoints: CheckpointStore, scope: Scope, ends: readonly OlderEnd[]) {
    this.#checkpoints = checkpoints;
    this.#scope = scope;
    this.#ends = ends;
  }

  /** Reads the ends. Older is what has a recorded start or a checkpoint. */
  static async at(
    { log, checkpoints }: { readonly log: LogSource; readonly checkpoints: CheckpointStore },
    scope: Scope,
    { topic, partition, starts }: TopicPartition & Pick<Initialisation, 'starts'>,
  ): Promise<OlderPartitions> {
    const ends: OlderEnd[] = [];
    for (const other of (await log.describe(topic)).partitions) {
      if (other.partition === partition) continue;
      const isStarted = starts.some((start) => start.partition === other.partition);
      const isOlder = isStarted || (await checkpoints.read(scope, { topic, partition: other.partition })) !== undefined;
      if (isOlder) ends.push({ topic, partition: other.partition, end: other.end });
    }
    return new OlderPartitions(checkpoints, scope, ends);
  }

  /** Numbers of the partitions that have not passed their ends. */
  async behind(): Promise<readonly number[]> {
    const behind: number[] = [];
    for (const older of this.#ends) {
      const checkpoint = await this.#checkpoints.read(this.#scope, older);
      if (checkpoint === undefined || checkpoint.offset < older.end) behind.push(older.partition);
    }
    return behind;
  }
}
