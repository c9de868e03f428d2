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
import type { Initialisation } from '../../checkpoints/initialisation.ts';
import { addedOrigin, savedOrigin } from '../../checkpoints/origin.ts';
import { partitionKey, type TopicPartition } from '../../log/position.ts';
import type { Clock } from '../../runtime/clock.ts';
import { checkpointKey, type MemoryTables, scopeKey } from './memory-tables.ts';

/** Checkpoints and initialisations in memory. */
export class MemoryCheckpointStore implements CheckpointStore {
  readonly #tables: MemoryTables;
  readonly #clock: Clock;

  constructor(tables: MemoryTables, clock: Clock) {
    this.#tables = tables;
    this.#clock = clock;
  }

  async initialisation(scope: Scope, topic: string): Promise<Initialisation | undefined> {
    return this.recorded(scope, topic);
  }

  /** The same, at once. */
  recorded(scope: Scope, topic: string): Initialisation | undefined {
    return this.#tables.initialisations.get(topicKey(scope, topic));
  }

  async initialise(scope: Scope, initialisation: Initialisation): Promise<Initialisation> {
    const key = topicKey(scope, initialisation.topic);
    const stored = this.#tables.initialisations.get(key);
    if (stored !== undefined) return stored;
    this.#tables.initialisations.set(key, structuredClone(initialisation));
    return initialisation;
  }

  async claim(
    scope: Scope,
    partition: TopicPartition & { readonly lowIfAdded: number },
    owner: string,
  ): Promise<Claim> {
    const key = checkpointKey(scope, partition);
    const stored = this.#tables.checkpoints.get(key)?.checkpoint;
    const checkpoint = stored ?? this.#first(scope, partition);
    if (checkpoint === undefined) return { kind: 'refused', reason: 'not initialised' };
    const claimed = { ...checkpoint, epoch: checkpoint.epoch + 1, sequence: 0 };
    this.#tables.checkpoints.set(key, { scope, owner, checkpoint: claimed });
    return { kind: 'claimed', checkpoint: claimed };
  }

  async save(save: Save): Promise<SaveResult> {
    if (this.move(save)) return { kind: 'saved' };
    return { kind: 'fenced', stored: await this.read(save.fence.scope, save.fence) };
  }

  async read(scope: Scope, partition: TopicPartition): Promise<Checkpoint | undefined> {
    return this.stored(scope, partition);
  }

  stored(scope: Scope, partition: TopicPartition): Checkpoint | undefined {
    return this.#tables.checkpoints.get(checkpointKey(scope, partition))?.checkpoint;
  }

  async reset({ scope, offset, who, why, ...partition }: Reset): Promise<void> {
    const key = checkpointKey(scope, partition);
    const before = this.#tables.checkpoints.get(key);
    const epoch = (before?.checkpoint.epoch ?? this.#tables.droppedEpochs.get(key) ?? 0) + 1;
    const { topic, partition: number } = partition;
    const checkpoint = {
      topic,
      partition: number,
      epoch,
      sequence: 0,
      offset,
      completed: [],
      origin: `reset to ${offset} by ${who}`,
      savedAt: this.#clock.nowMs(),
    };
    this.#tables.checkpoints.set(key, { scope, owner: before?.owner ?? '', checkpoint });
    for (const [entryKey, { entry, scope: own }] of this.#tables.entries) {
      const isSame = scopeKey(own) === scopeKey(scope) && partitionKey(entry.position) === partitionKey(partition);
      if (isSame && entry.position.offset >= offset) this.#tables.entries.delete(entryKey);
    }
    this.#tables.audit.push({ action: 'reset', who, why });
  }

  async drop(scope: Scope): Promise<void> {
    const own = scopeKey(scope);
    for (const [key, { scope: each, checkpoint }] of this.#tables.checkpoints) {
      if (scopeKey(each) !== own) continue;
      this.#tables.droppedEpochs.set(key, checkpoint.epoch);
      this.#tables.checkpoints.delete(key);
    }
    for (const key of this.#tables.initialisations.keys()) {
      if (key.startsWith(topicKey(scope, ''))) this.#tables.initialisations.delete(key);
    }
  }

  async list(): Promise<readonly ListedCheckpoint[]> {
    const all = [...this.#tables.checkpoints].toSorted(([a], [b]) => (a < b ? -1 : 1));
    return all.map(([, { scope, owner, checkpoint }]) => ({ ...checkpoint, scope, owner }));
  }

  /** Whether it stood at exactly the fence and not beyond `offset`; then it moved. */
  move({ fence, offset, completed }: Save): boolean {
    const key = checkpointKey(fence.scope, fence);
    const stored = this.#tables.checkpoints.get(key);
    if (stored === undefined) return false;
    const { checkpoint } = stored;
    if (checkpoint.epoch !== fence.epoch || checkpoint.sequence !== fence.sequence || checkpoint.offset > offset) {
      return false;
    }
    const isSame = checkpoint.offset === offset && completed.length === 0 && checkpoint.completed.length === 0;
    const moved = {
      ...checkpoint,
      offset,
      completed: structuredClone(completed),
      sequence: checkpoint.sequence + 1,
      origin: isSame ? checkpoint.origin : savedOrigin,
      savedAt: this.#clock.nowMs(),
    };
    this.#tables.checkpoints.set(key, { ...stored, checkpoint: moved });
    return true;
  }

  #first(
    scope: Scope,
    { lowIfAdded, topic, partition }: TopicPartition & { readonly lowIfAdded: number },
  ): Checkpoint | undefined {
    const initialisation = this.#tables.initialisations.get(topicKey(scope, topic));
    if (initialisation === undefined) return undefined;
    const start = initialisation.starts.find((each) => each.partition === partition);
    return {
      topic,
      partition,
      epoch: this.#tables.droppedEpochs.get(checkpointKey(scope, { topic, partition })) ?? 0,
      sequence: 0,
      offset: start?.offset ?? lowIfAdded,
      completed: [],
      origin: start === undefined ? addedOrigin : initialisation.origin,
      savedAt: this.#clock.nowMs(),
    };
  }
}

function topicKey(scope: Scope, topic: string): string {
  return `${scopeKey(scope)}/${topic}`;
}
