import type { Scope } from '../checkpoints/epoch.ts';
import type { Initialisation } from '../checkpoints/initialisation.ts';
import { jsonCommitCodec } from '../log/json-commit-codec.ts';
import type { Assignment, LogSession } from '../log/log-source.ts';
import { partitionKey, type TopicPartition } from '../log/position.ts';
import { assert } from '../runtime/assert.ts';
import { UnavailableError } from '../runtime/errors.ts';
import type { LogFields } from '../runtime/logger.ts';
import { ABORTED, retryWhileUnavailable } from '../runtime/retry.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { TaskGroup } from '../runtime/task-group.ts';
import type { SubscriptionSettings } from '../subscriptions/settings.ts';
import type { PartitionStatus, SubscriptionStatus } from '../subscriptions/status.ts';
import type { Stores } from '../subscriptions/stores.ts';
import { type Subscription, topicsOf } from '../subscriptions/subscription.ts';
import { isRefusal } from './is-refusal.ts';
import type { ParkedCount } from './parked-sequences.ts';
import { PartitionRun } from './partition-run.ts';
import { chooseStart, resolveStart } from './start-resolution.ts';
import type { WindowPermits } from './window-permits.ts';

/** Generation numbers start here; rebuilds count on. */
const FIRST_GENERATION = 1;

export type SubscriptionRunOptions = {
  readonly subscription: Subscription;
  /** The worker's own bounded context. */
  readonly context: string;
  readonly settings: SubscriptionSettings;
  readonly owner: string;
  readonly stores: Stores;
  readonly runtime: Runtime;
  readonly permits: WindowPermits;
  readonly onChange: () => void;
};

type Residency = { readonly run: PartitionRun; readonly stop: AbortController; readonly ended: Promise<void> };

/** One subscription in this process: its start, its membership in the log, and a run per partition that it owns. */
export class SubscriptionRun {
  readonly #options: SubscriptionRunOptions;
  readonly #scope: Scope;
  readonly #tasks: TaskGroup;
  readonly #residencies = new Map<string, Residency>();
  /** By topic. */
  readonly #initialisations = new Map<string, Initialisation>();
  readonly #parkedCount: ParkedCount = { entries: 0 };
  #session: LogSession | undefined;
  #stopped: string | undefined;
  #stoppedBy: string | undefined;

  constructor(options: SubscriptionRunOptions) {
    const runtime = {
      ...options.runtime,
      logger: options.runtime.logger.child({ subscription: options.subscription.name }),
    };
    this.#options = { ...options, runtime };
    this.#scope = { subscription: options.subscription.name, generation: FIRST_GENERATION };
    this.#tasks = new TaskGroup(runtime.logger);
  }

  get name(): string {
    return this.#options.subscription.name;
  }

  /** Rejects when our own code failed. */
  get failed(): Promise<never> {
    return this.#tasks.failed;
  }

  get status(): SubscriptionStatus {
    const runs = [...this.#residencies.values()].map(({ run }) => run);
    return {
      subscription: this.name,
      kind: this.#options.subscription.kind,
      stopped: this.#stopped,
      stoppedBy: this.#stoppedBy,
      taken: runs.reduce((sum, { standing }) => sum + standing.taken, 0),
      partitions: runs
        .map((run) => this.#statusOf(run))
        .toSorted((a, b) => (a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : a.partition - b.partition)),
    };
  }

  /** Where the subscription is stopped no partition goes on, whatever it was doing. */
  #statusOf({ standing: { status } }: PartitionRun): PartitionStatus {
    if (this.#stopped === undefined || status.state === 'gap') return status;
    return { ...status, state: 'stopped', reason: status.state === 'stopped' ? status.reason : this.#stopped };
  }

  /** Whether the partition has come to `offset`, or to a state in which it never will by itself. */
  hasPassed(partition: TopicPartition, offset: number): boolean {
    if (this.#stopped !== undefined) return true;
    const standing = this.#residencies.get(partitionKey(partition))?.run.standing;
    if (standing === undefined) return false;
    const { state } = standing.status;
    return state === 'gap' || state === 'stopped' || standing.hasPassed(offset);
  }

  /** Whether a partition that this process does not own has come to `offset`, by its stored checkpoint. */
  async hasPassedElsewhere(partition: TopicPartition, offset: number): Promise<boolean> {
    if (this.#residencies.has(partitionKey(partition))) return false;
    try {
      const checkpoint = await this.#options.stores.checkpoints.read(this.#scope, partition);
      return checkpoint !== undefined && checkpoint.offset >= offset;
    } catch (error) {
      // It is asked again.
      if (error instanceof UnavailableError) return false;
      throw error;
    }
  }

  /** Starts in the background: a store or log that is down is waited for. */
  start(): void {
    this.#tasks.run(this.name, (signal) => this.#follow(signal));
  }

  async stop(): Promise<void> {
    this.#tasks.abort();
    await this.#tasks.settled();
    await this.#session?.stop();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { stores, subscription, runtime } = this.#options;
    const prepared = await this.#retry(() => this.#prepare(), signal);
    if (prepared === ABORTED || this.#stopped !== undefined) return;
    runtime.logger.info('A subscription follows its topics.', { topics: topicsOf(subscription) });
    const session = stores.log.open(subscription.name, topicsOf(subscription));
    this.#session = session;
    try {
      await this.#retry(() => this.#followAssignments(session, signal), signal);
    } catch (error) {
      this.#stopByRefusal(error);
    }
  }

  async #followAssignments(session: LogSession, signal: AbortSignal): Promise<void> {
    for await (const assignment of session.assignments(signal)) await this.#assign(assignment);
  }

  /** Read models, then the start of each topic, before the first record is taken. */
  async #prepare(): Promise<void> {
    const { stores, subscription } = this.#options;
    try {
      for (const model of subscription.models) await stores.readModels.prepare(this.#scope, model);
      for (const topic of topicsOf(subscription)) await this.#initialise(topic);
    } catch (error) {
      if (error instanceof UnavailableError) throw error;
      this.#stopByRefusal(error);
    }
  }

  /** An operator's business, and of this subscription alone; a broken assumption of our own ends the process. */
  #stopByRefusal(error: unknown): void {
    if (!isRefusal(error)) throw error;
    this.#stoppedBy ??= error.code;
    this.#stop(error.message, { code: error.code, error });
  }

  async #initialise(topic: string): Promise<void> {
    const { stores, runtime } = this.#options;
    const description = await stores.log.describe(topic);
    const stored = await stores.checkpoints.initialisation(this.#scope, topic);
    if (stored !== undefined) {
      // Another log stops the partitions of this topic when they are assigned; the other topics go on.
      this.#initialisations.set(topic, stored);
      return;
    }
    const { subscription, context, settings } = this.#options;
    const choice = chooseStart(subscription, { topic, context, configured: settings.start });
    const resolved = await resolveStart(choice, description, { log: stores.log, clock: runtime.clock });
    const agreed = await stores.checkpoints.initialise(this.#scope, resolved);
    this.#initialisations.set(topic, agreed);
    runtime.logger.info('A start was recorded.', { topic, origin: agreed.origin, starts: agreed.starts });
  }

  async #assign({ assigned, lost }: Assignment): Promise<void> {
    await Promise.all([...lost, ...assigned].map((partition) => this.#lose(partition)));
    for (const partition of assigned) this.#own(partition);
    this.#options.onChange();
  }

  /** Ends the residency, if there is one: a partition that comes back is a new one. */
  async #lose(partition: TopicPartition): Promise<void> {
    const key = partitionKey(partition);
    const residency = this.#residencies.get(key);
    if (residency === undefined) return;
    residency.stop.abort();
    await residency.ended;
    this.#residencies.delete(key);
  }

  #own(partition: TopicPartition): void {
    const { stores, subscription, settings, owner, permits, runtime, onChange } = this.#options;
    const session = this.#session;
    const initialisation = this.#initialisations.get(partition.topic);
    assert(initialisation !== undefined, 'a topic has a recorded start before its partitions are assigned', partition);
    if (session === undefined || this.#stopped !== undefined) return;
    const run = new PartitionRun({
      subscription,
      partition,
      settings,
      owner,
      session,
      stores,
      onChange,
      onSubscriptionStop: (reason) => this.#stop(reason, { reason }),
      runtime: { ...runtime, logger: runtime.logger.child(partition) },
      scope: this.#scope,
      initialisation,
      codec: jsonCommitCodec({}),
      parkedCount: this.#parkedCount,
      permits,
    });
    const stop = new AbortController();
    const ended = Promise.withResolvers<void>();
    this.#residencies.set(partitionKey(partition), { run, stop, ended: ended.promise });
    this.#tasks.run(`${this.name} ${partitionKey(partition)}`, async (groupSignal) => {
      try {
        await run.run(AbortSignal.any([groupSignal, stop.signal]));
      } finally {
        ended.resolve();
      }
    });
  }

  #retry<T>(operation: () => Promise<T>, signal: AbortSignal): Promise<T | typeof ABORTED> {
    const { runtime } = this.#options;
    const onWaiting = (error: Error): void =>
      runtime.logger.warn('A store or log cannot be reached; trying again.', { error });
    return retryWhileUnavailable(operation, { runtime, signal, onWaiting });
  }

  #stop(reason: string, fields: LogFields): void {
    const { runtime, onChange } = this.#options;
    this.#stopped ??= reason;
    for (const { stop } of this.#residencies.values()) stop.abort();
    runtime.logger.error('A subscription is stopped.', fields);
    onChange();
  }
}
