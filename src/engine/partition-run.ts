import type { Checkpoint } from '../checkpoints/checkpoint.ts';
import type { Scope } from '../checkpoints/epoch.ts';
import type { Initialisation } from '../checkpoints/initialisation.ts';
import type { CommitCodec } from '../log/commit-codec.ts';
import type { LogSession, PartitionBounds } from '../log/log-source.ts';
import type { TopicPartition } from '../log/position.ts';
import { isAborted } from '../runtime/aborted.ts';
import { backoffMs } from '../runtime/backoff.ts';
import { UnavailableError } from '../runtime/errors.ts';
import { ABORTED, retryWhileUnavailable } from '../runtime/retry.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { SubscriptionSettings } from '../subscriptions/settings.ts';
import type { Stores } from '../subscriptions/stores.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import { BatchRunner } from './batch-runner.ts';
import { Committer } from './committer.ts';
import { isRefusal } from './is-refusal.ts';
import { type Isolation, NO_ISOLATION } from './isolation.ts';
import { identityProblem } from './log-identity.ts';
import { type ParkedCount, ParkedSequences } from './parked-sequences.ts';
import { isAdded, OlderPartitions } from './partition-growth.ts';
import { PartitionReader } from './partition-reader.ts';
import { PartitionStanding } from './partition-standing.ts';
import type { RunEnd } from './run-end.ts';
import { epochMoved } from './stored-epoch.ts';
import type { WindowPermits } from './window-permits.ts';

export type PartitionRunOptions = {
  readonly subscription: Subscription;
  readonly scope: Scope;
  readonly partition: TopicPartition;
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

/** After losing a partition that is still assigned, the next claim waits up to so long, doubling. */
const RECLAIM = { initialMs: 200, maxMs: 30_000 };
/** After the log could not be read, the next run waits up to so long, doubling. */
const RERUN = { initialMs: 200, maxMs: 5_000 };
/** How often a partition that was added looks whether the older ones have passed. */
const GROWTH_POLL_MS = 1_000;
/** How often what kept a partition from being claimed is looked at again. */
const LOOK_AGAIN_MS = 30_000;

/**
 * One residency in a partition: claim the epoch, read the checkpoint, then the ledger's membership, then pull; go on from
 * the stored checkpoint after whatever ended a run, until it is aborted. Where an operator must act it rests until the
 * stored epoch says that somebody did.
 */
export class PartitionRun {
  readonly standing: PartitionStanding;
  readonly #options: PartitionRunOptions;
  readonly #isAdded: boolean;
  /** `undefined` while it has none. */
  #epoch: number | undefined;

  constructor(options: PartitionRunOptions) {
    const { partition, initialisation, runtime, onChange } = options;
    this.#options = options;
    this.#isAdded = isAdded(initialisation, partition);
    this.standing = new PartitionStanding({ partition, onChange, logger: runtime.logger });
  }

  /** Resolves on abort, after the write on the wire has come to an end. */
  async run(signal: AbortSignal): Promise<void> {
    const { runtime } = this.#options;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const end = await stoppedByRefusal(() => this.#own(signal));
      if (end.kind === 'aborted') return;
      if (end.kind === 'fenced') {
        if (end.hasProgressed) attempt = 1;
        this.standing.show('fenced', 'another owner took this partition over; claiming it again');
        await runtime.clock.sleep(backoffMs({ ...RECLAIM, attempt }, runtime.random), signal);
        continue;
      }
      this.standing.show(end.kind, end.reason);
      if (end.kind === 'stopped' && end.whole === 'subscription') this.#options.onSubscriptionStop(end.reason);
      await this.#rest(signal);
    }
  }

  /** Claims the partition and runs it under that epoch. */
  async #own(signal: AbortSignal): Promise<OwnershipEnd & { readonly hasProgressed?: boolean }> {
    this.#epoch = undefined;
    const bounds = await this.#retry(() => this.#bounds(), signal);
    if (bounds === ABORTED) return { kind: 'aborted' };
    this.standing.found(bounds);
    if (this.#isAdded && !(await this.#waitForOlder(signal))) return { kind: 'aborted' };
    const { stores, scope, partition, owner } = this.#options;
    const place = { ...partition, lowIfAdded: bounds.low };
    const claim = await this.#retry(() => stores.checkpoints.claim(scope, place, owner), signal);
    if (claim === ABORTED) return { kind: 'aborted' };
    if (claim.kind === 'refused') {
      return { kind: 'stopped', whole: 'partition', reason: `the claim was refused: ${claim.reason}` };
    }
    const { checkpoint } = claim;
    this.#epoch = checkpoint.epoch;
    this.standing.claimed(checkpoint);
    const end = await this.#runUntilMoved({ checkpoint, end: bounds.end }, signal);
    return { ...end, hasProgressed: this.standing.position > checkpoint.offset };
  }

  /** The partition's own bounds, if it is still the log that was followed so far. */
  async #bounds(): Promise<PartitionBounds> {
    const { stores, partition, initialisation } = this.#options;
    const description = await stores.log.describe(partition.topic, [partition.partition]);
    const problem = identityProblem(initialisation, description);
    if (problem !== undefined) throw problem;
    const bounds = description.partitions.find((each) => each.partition === partition.partition);
    if (bounds !== undefined) return bounds;
    const { topic, partition: number } = partition;
    throw new UnavailableError(`The log does not know partition ${number} of ${topic} now.`, { details: partition });
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
      this.standing.show('waiting', `waits for ${behind.map((number) => `p${number}`).join(', ')}`);
      await runtime.clock.sleep(GROWTH_POLL_MS, signal);
    }
    return false;
  }

  /** Runs under one epoch until the run ends, or the store has another epoch. */
  async #runUntilMoved(from: RunStart, signal: AbortSignal): Promise<OwnershipEnd> {
    const { scope, partition, stores, runtime } = this.#options;
    const over = new AbortController();
    const moved = new AbortController();
    const own = { ...partition, scope, epoch: from.checkpoint.epoch };
    const watching = epochMoved(own, { checkpoints: stores.checkpoints, runtime }, over.signal).finally(() =>
      moved.abort(),
    );
    // What it fails with is told below, after the run.
    watching.catch(() => undefined);
    let end: OwnershipEnd;
    try {
      end = await this.#runFrom(from, AbortSignal.any([signal, moved.signal]));
    } finally {
      over.abort();
    }
    return (await watching) && end.kind === 'aborted' && !signal.aborted ? { kind: 'fenced' } : end;
  }

  /** Runs as long as going on from the checkpoint is all there is to do. */
  async #runFrom({ checkpoint, end: logEnd }: RunStart, signal: AbortSignal): Promise<OwnershipEnd> {
    const { stores, scope, runtime } = this.#options;
    const onWaiting = (error: UnavailableError | undefined): void => this.standing.waiting(error);
    const committer = new Committer({ scope, checkpoint, stores, runtime, signal, onWaiting });
    let isolation = NO_ISOLATION;
    let outages = 0;
    for (;;) {
      const end = await this.#runOnce({ committer, isolation, logEnd }, signal);
      if (end.kind === 'isolate') isolation = end.isolation;
      else if (end.kind !== 'unavailable') return end;
      else {
        outages = this.standing.hasAnswer ? 1 : outages + 1;
        this.standing.waiting(end.error);
        await runtime.clock.sleep(backoffMs({ ...RERUN, attempt: outages }, runtime.random), signal);
        if (isAborted(signal)) return { kind: 'aborted' };
      }
    }
  }

  async #runOnce(
    { committer, isolation, logEnd }: { committer: Committer; isolation: Isolation; logEnd: number },
    signal: AbortSignal,
  ): Promise<RunEnd> {
    const { stores, scope, partition, session, settings, ...options } = this.#options;
    const parked = await this.#retry(() => this.#loadParked(), signal);
    if (parked === ABORTED) return { kind: 'aborted' };
    const reader = new PartitionReader(session, partition, { offset: committer.offset, end: logEnd });
    this.standing.running(reader, parked);
    const runner = new BatchRunner({
      subscription: options.subscription,
      settings,
      codec: options.codec,
      reader,
      committer,
      parked,
      permits: options.permits,
      isolation,
      scope,
      runtime: options.runtime,
      ledger: stores.ledger,
      onProgress: (position, taken) => this.standing.progressed(position, taken),
      onStanding: ({ reason }) => this.standing.show('stopped', `${reason}; goes on once a retry makes room`),
    });
    return runner.run(signal);
  }

  async #loadParked(): Promise<ParkedSequences> {
    const { stores, scope, partition, parkedCount, settings } = this.#options;
    const here = await stores.ledger.membership(scope, partition);
    const elsewhere = this.#isAdded ? await stores.ledger.elsewhere(scope, partition) : [];
    parkedCount.entries = await stores.ledger.count(scope);
    return new ParkedSequences({ here, elsewhere }, { count: parkedCount, bounds: settings.parked });
  }

  /** Nothing more happens here by itself: until somebody acts. */
  async #rest(signal: AbortSignal): Promise<void> {
    const { scope, partition, stores, runtime } = this.#options;
    const epoch = this.#epoch;
    if (epoch === undefined) return runtime.clock.sleep(LOOK_AGAIN_MS, signal);
    const own = { ...partition, scope, epoch };
    try {
      await epochMoved(own, { checkpoints: stores.checkpoints, runtime }, signal);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // The state tells of a refusal already.
      await runtime.clock.sleep(LOOK_AGAIN_MS, signal);
    }
  }

  #retry<T>(operation: () => Promise<T>, signal: AbortSignal): Promise<T | typeof ABORTED> {
    const { runtime } = this.#options;
    return retryWhileUnavailable(operation, { runtime, signal, onWaiting: (error) => this.standing.waiting(error) });
  }
}

type RunStart = {
  readonly checkpoint: Checkpoint;
  /** The log's end when it was claimed. */
  readonly end: number;
};

/** A store or log that refuses for good is an operator's business; a broken assumption of our own ends the process. */
async function stoppedByRefusal<End>(run: () => Promise<End>): Promise<End | Extract<RunEnd, { kind: 'stopped' }>> {
  try {
    return await run();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { kind: 'stopped', whole: 'partition', reason: error.message };
  }
}
