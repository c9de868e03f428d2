import type { Checkpoint } from '../checkpoints/checkpoint.ts';
import type { Fence, Scope } from '../checkpoints/epoch.ts';
import type { LedgerChange } from '../failures/failure.ts';
import type { TopicPartition } from '../log/position.ts';
import type { Refusal, WritePlan } from '../read-models/write-plan.ts';
import type { UnavailableError } from '../runtime/errors.ts';
import { ABORTED, retryWhileUnavailable } from '../runtime/retry.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Stores } from '../subscriptions/stores.ts';

export type CommitOutcome =
  | { readonly kind: 'committed' }
  /** Another owner, or a reset: nothing was written. */
  | { readonly kind: 'fenced' }
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[] }
  /** Given up on abort; the outcome is unknown. */
  | { readonly kind: 'aborted' };

export type FencedWrite = {
  readonly plan: WritePlan | undefined;
  readonly ledger: readonly LedgerChange[];
  /** Where the checkpoint moves to; the present offset to leave it. */
  readonly offset: number;
};

export type CommitterOptions = {
  readonly scope: Scope;
  /** As claimed. */
  readonly checkpoint: Checkpoint;
  readonly stores: Pick<Stores, 'checkpoints' | 'log' | 'readModels'>;
  readonly runtime: Runtime;
  /** Ends the retries while a store is down. */
  readonly signal: AbortSignal;
  readonly onWaiting: (error: UnavailableError | undefined) => void;
};

const COMMITTED = { kind: 'committed' } as const;

/**
 * Everything that an owner writes under its epoch for one partition goes through here, one write at a time, each fenced
 * by (epoch, sequence). A timed-out write is unknown: it is repeated as it was, and found again by its sequence.
 */
export class Committer {
  readonly #options: CommitterOptions;
  #sequence: number;
  #offset: number;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.#sequence = options.checkpoint.sequence;
    this.#offset = options.checkpoint.offset;
  }

  /** The committed position. */
  get offset(): number {
    return this.#offset;
  }

  /** Whether this is the partition that it writes for. */
  owns({ topic, partition }: TopicPartition): boolean {
    const { checkpoint } = this.#options;
    return topic === checkpoint.topic && partition === checkpoint.partition;
  }

  get epoch(): number {
    return this.#options.checkpoint.epoch;
  }

  /** Writes the plan, the ledger changes and the position in one transaction, or nothing. */
  commit({ plan, ledger, offset }: FencedWrite): Promise<CommitOutcome> {
    const { scope, stores } = this.#options;
    const advances = [{ fence: this.#fence(), offset }];
    return this.#write(offset, () => stores.readModels.commit({ scope, advances, plan, ledger }));
  }

  /** Writes the position alone. */
  save(offset: number): Promise<CommitOutcome> {
    const { stores } = this.#options;
    const fence = this.#fence();
    return this.#write(offset, async () => {
      const result = await stores.checkpoints.save({ fence, offset, completed: [] });
      return result.kind === 'saved' ? COMMITTED : result;
    });
  }

  async #write(offset: number, operation: () => Promise<StoreResult>): Promise<CommitOutcome> {
    const { runtime, signal, onWaiting } = this.#options;
    const result = await retryWhileUnavailable(operation, { runtime, signal, onWaiting });
    if (result === ABORTED) return { kind: 'aborted' };
    onWaiting(undefined);
    if (result.kind === 'refused') return { kind: 'refused', refusals: result.refusals };
    if (result.kind === 'fenced' && !this.#isOwnLostReply(result.stored)) return { kind: 'fenced' };
    this.#sequence += 1;
    if (offset > this.#offset) this.#mirror(offset);
    this.#offset = offset;
    return COMMITTED;
  }

  #isOwnLostReply(stored: Checkpoint | undefined): boolean {
    return stored !== undefined && stored.epoch === this.epoch && stored.sequence === this.#sequence + 1;
  }

  #mirror(offset: number): void {
    const { stores, scope, checkpoint } = this.#options;
    stores.log.mirror(scope.subscription, { topic: checkpoint.topic, partition: checkpoint.partition, offset });
  }

  #fence(): Fence {
    const { scope, checkpoint } = this.#options;
    return {
      scope,
      topic: checkpoint.topic,
      partition: checkpoint.partition,
      epoch: checkpoint.epoch,
      sequence: this.#sequence,
    };
  }
}

type StoreResult =
  | { readonly kind: 'committed' }
  | { readonly kind: 'fenced'; readonly stored: Checkpoint | undefined }
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[] };
