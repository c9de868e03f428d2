import type { Checkpoint } from '../checkpoints/checkpoint.ts';
import type { Scope } from '../checkpoints/epoch.ts';
import type { Initialisation } from '../checkpoints/initialisation.ts';
import type { CommitCodec } from '../log/commit-codec.ts';
import type { LogSession, PartitionBounds, TopicDescription } from '../log/log-source.ts';
import type { TopicPartition } from '../log/position.ts';
import { isAborted } from '../runtime/aborted.ts';
import { AssertionError } from '../runtime/assert.ts';
import { backoffMs } from '../runtime/backoff.ts';
import { TidemarkError, type UnavailableError } from '../runtime/errors.ts';
import { ABORTED, retryWhileUnavailable } from '../runtime/retry.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { SubscriptionSettings } from '../subscriptions/settings.ts';
import type { PartitionState, PartitionStatus } from '../subscriptions/status.ts';
import type { Stores } from '../subscriptions/stores.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import { BatchRunner } from './batch-runner.ts';
import { Committer } from './committer.ts';
import { type Isolation, NO_ISOLATION } from './isolation.ts';
import { identityProblem } from './log-identity.ts';
import { type ParkedCount, ParkedSequences } from './parked-sequences.ts';
import { isAdded, OlderPartitions } from './partition-growth.ts';
import { PartitionReader } from './partition-reader.ts';
import type { RunEnd } from './run-end.ts';
import type { WindowPermits } from './window-permits.ts';

export type PartitionRunOptions = {
  readonly subscription: Subscription;
  readonly scope: Scope;
  readonly partition: TopicPartition;
  /** The topic as it was when the partition was assigned. */
  readonly description: TopicDescription;
  /** The recorded start of the subscription in the topic. */
  readonly initialisation: Initialisation;
  readonly owner: string;
  readonly settings: SubscriptionSettings;
  readonly codec: CommitCodec;
  readonly session: LogSession;
  readonly stores: Stores;
  readonly parkedCount: ParkedCount;
  readonly permits: WindowPermits;
  readonly runtime: Runtime;
  /** Told after each change of status. */
  readonly onChange: () => void;
  /** Told when a bound was reached at which the whole subscription stops. */
  readonly onSubscriptionStop: (reason: string) => void;
};

/** What an ownership comes to. */
type OwnershipEnd = Exclude<RunEnd, { readonly kind: 'isolate' | 'unavailable' }>;

/** After losing a partition that is still assigned, the next claim waits this long, doubling. */
const RECLAIM_INITIAL_MS = 200;
const RECLAIM_MAX_MS = 30_000;
/** How often a partition that was added looks whether the older ones have passed. */
const GROWTH_POLL_MS = 1_000;

/**
 * One residency in a partition: claim the epoch, read the checkpoint, then the ledger's membership, then pull; go on from
 * the stored checkpoint after whatever ended a run, until it is aborted or an operator must act.
 */
export class PartitionRun {
  readonly #options: PartitionRunOptions;
  readonly #bounds: PartitionBounds;
  readonly #isAdded: boolean;
  #state: PartitionState = 'starting';
  #reason: string | undefined;
  #position: number;
  #end: number;
  #epoch = 0;
  #origin = '';
  #taken = 0;
  #reader: PartitionReader | undefined;
  #parked: ParkedSequences | undefined;

  constructor(options: PartitionRunOptions) {
    const { description, initialisation, partition } = options;
    this.#options = options;
    this.#bounds = description.partitions.find((bounds) => bounds.partition === partition.partition) ?? {
      partition: partition.partition,
      low: 0,
      end: 0,
    };
    this.#isAdded = isAdded(initialisation, partition);
    this.#position = this.#bounds.low;
    this.#end = this.#bounds.end;
  }

  get status(): PartitionStatus {
    return {
      ...this.#options.partition,
      state: this.#state,
      reason: this.#reason,
      offset: this.#position,
      end: Math.max(this.#end, this.#reader?.end ?? 0),
      epoch: this.#epoch,
      origin: this.#origin,
      parked: this.#parked?.entries ?? 0,
    };
  }

  /** Records taken from the log. */
  get taken(): number {
    return this.#taken;
  }

  /** Whether everything below `offset` is done or parked, with no first retry about to come. */
  hasPassed(offset: number): boolean {
    const isAtWork = this.#epoch > 0 && this.#reader?.hasAnswer === true;
    return isAtWork && this.#position >= offset && this.#parked?.hasFirstRetryAhead === false;
  }

  /** Resolves on abort, after the write on the wire has come to an end. */
  async run(signal: AbortSignal): Promise<void> {
    const { runtime, initialisation, description } = this.#options;
    const problem = identityProblem(initialisation, description);
    if (problem !== undefined) {
      this.#show('stopped', problem.message);
      return this.#rest(signal);
    }
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const checkpoint = await this.#claim(signal);
      if (checkpoint === undefined) return this.#rest(signal);
      const end = await this.#runFrom(checkpoint, signal);
      if (end.kind === 'aborted') return;
      if (end.kind !== 'fenced') {
        this.#show(end.kind, end.reason);
        if (end.kind === 'stopped' && end.whole === 'subscription') this.#options.onSubscriptionStop(end.reason);
        return this.#rest(signal);
      }
      if (this.#position > checkpoint.offset) attempt = 1;
      this.#show('fenced', 'another owner took this partition over; claiming it again');
      const delay = { initialMs: RECLAIM_INITIAL_MS, maxMs: RECLAIM_MAX_MS, attempt };
      await runtime.clock.sleep(backoffMs(delay, runtime.random), signal);
    }
  }

  /** The own epoch's checkpoint; `undefined` if the partition may not be had, or on abort. */
  async #claim(signal: AbortSignal): Promise<Checkpoint | undefined> {
    const { stores, scope, partition, owner } = this.#options;
    if (this.#isAdded && !(await this.#waitForOlder(signal))) return undefined;
    const claim = await this.#retry(
      () => stores.checkpoints.claim(scope, { ...partition, lowIfAdded: this.#bounds.low }, owner),
      signal,
    );
    if (claim === ABORTED) return undefined;
    if (claim.kind === 'refused') {
      this.#show('stopped', `the claim was refused: ${claim.reason}`);
      return undefined;
    }
    const { checkpoint } = claim;
    this.#epoch = checkpoint.epoch;
    this.#origin = checkpoint.origin;
    this.#position = checkpoint.offset;
    return checkpoint;
  }

  /** Until a partition that was added has its first checkpoint, the older ones go first. False on abort. */
  async #waitForOlder(signal: AbortSignal): Promise<boolean> {
    const { stores, scope, partition, initialisation, runtime } = this.#options;
    const stored = await this.#retry(() => stores.checkpoints.read(scope, partition), signal);
    if (stored !== undefined) return stored !== ABORTED;
    const where = { ...partition, starts: initialisation.starts };
    const older = await this.#retry(() => OlderPartitions.at(stores, scope, where), signal);
    if (older === ABORTED) return false;
    while (!isAborted(signal)) {
      const behind = await this.#retry(() => older.behind(), signal);
      if (behind === ABORTED) return false;
      if (behind.length === 0) return true;
      this.#show('waiting', `waits for ${behind.map((number) => `p${number}`).join(', ')}`);
      await runtime.clock.sleep(GROWTH_POLL_MS, signal);
    }
    return false;
  }

  /** Runs under one epoch, as long as going on from its checkpoint is all there is to do. */
  async #runFrom(checkpoint: Checkpoint, signal: AbortSignal): Promise<OwnershipEnd> {
    const { stores, scope, runtime } = this.#options;
    const committer = new Committer({
      scope,
      checkpoint,
      stores,
      runtime,
      signal,
      onWaiting: (error) => this.#showWaiting(error),
    });
    let isolation = NO_ISOLATION;
    for (;;) {
      const end = await this.#runOnce(committer, isolation, signal);
      if (end.kind === 'isolate') isolation = end.isolation;
      else if (end.kind !== 'unavailable') return end;
      else {
        this.#showWaiting(end.error);
        await runtime.clock.sleep(RECLAIM_INITIAL_MS, signal);
        if (isAborted(signal)) return { kind: 'aborted' };
      }
    }
  }

  async #runOnce(committer: Committer, isolation: Isolation, signal: AbortSignal): Promise<RunEnd> {
    const { stores, scope, partition, session, parkedCount, permits, runtime } = this.#options;
    const loaded = await this.#retry(() => stores.ledger.membership(scope, partition), signal);
    if (loaded === ABORTED) return { kind: 'aborted' };
    const total = await this.#retry(() => stores.ledger.count(scope), signal);
    if (total === ABORTED) return { kind: 'aborted' };
    const elsewhere = this.#isAdded ? await this.#retry(() => stores.ledger.elsewhere(scope, partition), signal) : [];
    if (elsewhere === ABORTED) return { kind: 'aborted' };
    parkedCount.entries = total;
    const parked = new ParkedSequences(loaded, elsewhere, parkedCount);
    const reader = new PartitionReader(session, partition, { offset: committer.offset, end: this.#end });
    this.#parked = parked;
    this.#reader = reader;
    this.#show('following', undefined);
    const { subscription, settings, codec } = this.#options;
    const runner = new BatchRunner({
      subscription,
      settings,
      codec,
      reader,
      committer,
      parked,
      parkedCount,
      permits,
      isolation,
      scope,
      runtime,
      ledger: stores.ledger,
      onProgress: (position, taken) => this.#progressed(position, taken),
    });
    try {
      return await runner.run(signal);
    } catch (error) {
      // A store that refuses for good is an operator's business; a broken assumption of our own ends the process.
      if (!(error instanceof TidemarkError) || error instanceof AssertionError) throw error;
      return { kind: 'stopped', whole: 'partition', reason: error.message };
    }
  }

  #retry<T>(operation: () => Promise<T>, signal: AbortSignal): Promise<T | typeof ABORTED> {
    const { runtime } = this.#options;
    return retryWhileUnavailable(operation, { runtime, signal, onWaiting: (error) => this.#showWaiting(error) });
  }

  /** Nothing more happens here by itself. */
  async #rest(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options.runtime;
    while (!signal.aborted) await clock.sleep(3_600_000, signal);
  }

  #progressed(position: number, taken: number): void {
    this.#position = position;
    this.#taken += taken;
    this.#options.onChange();
  }

  #showWaiting(error: UnavailableError | undefined): void {
    if (error === undefined) {
      if (this.#state === 'waiting') this.#show('following', undefined);
      return;
    }
    if (this.#state !== 'waiting') this.#show('waiting', error.message);
  }

  #show(state: PartitionState, reason: string | undefined): void {
    const { runtime, partition, onChange } = this.#options;
    if (state !== this.#state) {
      const level = state === 'gap' || state === 'stopped' ? 'error' : state === 'following' ? 'info' : 'warn';
      const fields = { ...partition, state, ...(reason === undefined ? {} : { reason }), offset: this.#position };
      runtime.logger[level]('A partition changed its state.', fields);
    }
    this.#state = state;
    this.#reason = reason;
    onChange();
  }
}
