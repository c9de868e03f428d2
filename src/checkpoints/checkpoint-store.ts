import type { TopicPartition } from '../log/position.ts';
import type { Checkpoint, Run } from './checkpoint.ts';
import type { Fence, Scope } from './epoch.ts';
import type { Initialisation } from './initialisation.ts';

export type Claim =
  | { readonly kind: 'claimed'; readonly checkpoint: Checkpoint }
  | { readonly kind: 'refused'; readonly reason: 'stopped' | 'paused' | 'not initialised' };

export type Save = { readonly fence: Fence; readonly offset: number; readonly completed: readonly Run[] };

/** `fenced` carries what is stored now: at the own epoch and one sequence further it is our own lost reply. */
export type SaveResult =
  | { readonly kind: 'saved' }
  | { readonly kind: 'fenced'; readonly stored: Checkpoint | undefined };

export type Reset = TopicPartition & {
  readonly scope: Scope;
  readonly offset: number;
  readonly who: string;
  readonly why: string;
};

/** A checkpoint with whose it is. */
export type ListedCheckpoint = Checkpoint & { readonly scope: Scope; readonly owner: string };

/**
 * Keeps initialisations and checkpoints. Absent is absent, never zero. Each operation is atomic and durable before it
 * returns; `UnavailableError` means an unknown outcome. There is no lease: a claim always succeeds and raises the epoch.
 */
export interface CheckpointStore {
  /** The stored initialisation, if any. */
  initialisation(scope: Scope, topic: string): Promise<Initialisation | undefined>;
  /** Stores it if there is none, and gives the stored one: of two callers at once, both get the first one's. */
  initialise(scope: Scope, initialisation: Initialisation): Promise<Initialisation>;
  /**
   * Raises the epoch and sets the sequence to 0. The position of a first claim comes from the initialisation of its topic
   * (a partition not in it: `lowIfAdded`), never from a constant; without one the claim is refused.
   */
  claim(scope: Scope, partition: TopicPartition & { readonly lowIfAdded: number }, owner: string): Promise<Claim>;
  /** Accepted only at exactly the fence's epoch and sequence, and never backwards. */
  save(save: Save): Promise<SaveResult>;
  read(scope: Scope, partition: TopicPartition): Promise<Checkpoint | undefined>;
  /** One atomic write of position, epoch + 1 and an audit line; the only way a checkpoint moves back. */
  reset(reset: Reset): Promise<void>;
  /** Forgets a subscription in a generation: initialisations and checkpoints. Idempotent. */
  drop(scope: Scope): Promise<void>;
  list(): Promise<readonly ListedCheckpoint[]>;
}
