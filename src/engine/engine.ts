import type { TopicPartition } from '../log/position.ts';
import { Notifier } from '../runtime/notifier.ts';
import { ABORTED, retryWhileUnavailable } from '../runtime/retry.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { SubscriptionSettings } from '../subscriptions/settings.ts';
import type { CatchUp, SubscriptionStatus } from '../subscriptions/status.ts';
import type { Stores } from '../subscriptions/stores.ts';
import { topicsOf } from '../subscriptions/subscription.ts';
import { checkWorker, type Worker } from '../subscriptions/worker.ts';
import { SubscriptionRun } from './subscription-run.ts';
import { WindowPermits } from './window-permits.ts';

/** How often partitions that another process owns are looked at. */
const ELSEWHERE_POLL_MS = 1_000;

/** One large window is gathered while another is on the wire; more would only cost memory. */
const LARGE_WINDOWS = 2;

export type EngineOptions = {
  readonly worker: Worker;
  readonly stores: Stores;
  readonly runtime: Runtime;
  /** The settings of a subscription by its name. */
  readonly settings: (subscription: string) => SubscriptionSettings;
  /** Names this process in claims: host, process id and start, say. */
  readonly owner: string;
};

/**
 * Runs a worker's subscriptions until it is stopped. The stores are the caller's to open and to close, after `stop`.
 * Crashes, restarts, a second engine on the same stores: nothing is skipped, and declared writes take effect once.
 */
export class Engine {
  readonly #options: EngineOptions;
  readonly #runs: readonly SubscriptionRun[];
  readonly #changed = new Notifier();
  #stopping: Promise<void> | undefined;
  #hasStarted = false;

  constructor(options: EngineOptions) {
    this.#options = options;
    const { worker, stores, runtime, owner } = options;
    const permits = new WindowPermits(LARGE_WINDOWS);
    this.#runs = worker.subscriptions.map(
      (subscription) =>
        new SubscriptionRun({
          subscription,
          stores,
          runtime,
          owner,
          permits,
          context: worker.context,
          settings: options.settings(subscription.name),
          onChange: () => this.#changed.notify(),
        }),
    );
  }

  /** Rejects when our own code failed; the process should end then. Never resolves. */
  get failed(): Promise<never> {
    return Promise.race(this.#runs.map((run) => run.failed));
  }

  /**
   * Starts all subscriptions in the background; a store or log that is down is waited for. A second call does nothing.
   * Throws `DefinitionError` with every mistake in the definitions, before anything is started.
   */
  start(): void {
    checkWorker(this.#options.worker);
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    for (const run of this.#runs) run.start();
  }

  /**
   * Stops reading, waits for the writes on the wire, saves positions, leaves the log. Idempotent: the same promise. Where
   * one subscription fails to stop the others stop all the same, and the failure is thrown after them.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const stops = await Promise.allSettled(this.#runs.map((run) => run.stop()));
    const failures = stops.filter((stop) => stop.status === 'rejected').map(({ reason }): unknown => reason);
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures, 'Stops failed.');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  status(): readonly SubscriptionStatus[] {
    return this.#runs.map((run) => run.status);
  }

  /** Resolves once no subscription goes on: each is stopped as a whole. Answers on abort as well. */
  async allStopped(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.status().some(({ stopped }) => stopped === undefined)) {
      await this.#changed.next(signal);
    }
  }

  /**
   * Waits until every subscription has passed the ends that the log has now, or stands where it needs an operator. What
   * was parked at those ends has had its first retry. Of a partition that another process owns the stored checkpoint
   * counts. Answers on abort as well, then incomplete.
   */
  async caughtUp(signal: AbortSignal): Promise<CatchUp> {
    const targets = await this.#targets(signal);
    if (targets === ABORTED) return { isComplete: false, subscriptions: this.status() };
    const elsewhere = new Set<Target>();
    const open = (): readonly Target[] =>
      targets.filter((target) => !elsewhere.has(target) && !target.run.hasPassed(target.partition, target.end));
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    // What goes wrong there ends the waiting here.
    const watching = this.#watchElsewhere(open, elsewhere, until).finally(() => over.abort());
    while (open().length > 0 && !until.aborted) await this.#changed.next(until);
    over.abort();
    await watching;
    const subscriptions = this.status();
    return { isComplete: open().length === 0 && subscriptions.every(isAtWork), subscriptions };
  }

  /** Adds what other processes have passed; runs until it is aborted. */
  async #watchElsewhere(open: () => readonly Target[], elsewhere: Set<Target>, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options.runtime;
    for (;;) {
      await clock.sleep(ELSEWHERE_POLL_MS, signal);
      if (signal.aborted) return;
      for (const target of open()) {
        if (await target.run.hasPassedElsewhere(target.partition, target.end)) elsewhere.add(target);
      }
      this.#changed.notify();
    }
  }

  async #targets(signal: AbortSignal): Promise<readonly Target[] | typeof ABORTED> {
    const { worker, stores, runtime } = this.#options;
    const targets: Target[] = [];
    for (const [index, run] of this.#runs.entries()) {
      const subscription = worker.subscriptions[index];
      for (const topic of subscription === undefined ? [] : topicsOf(subscription)) {
        const onWaiting = (error: Error): void =>
          runtime.logger.warn('The log cannot be reached; trying again.', { error });
        const options = { runtime, signal, onWaiting };
        const description = await retryWhileUnavailable(() => stores.log.describe(topic), options);
        if (description === ABORTED) return ABORTED;
        const { partitions } = description;
        targets.push(...partitions.map(({ partition, end }) => ({ run, partition: { topic, partition }, end })));
      }
    }
    return targets;
  }
}

type Target = { readonly run: SubscriptionRun; readonly partition: TopicPartition; readonly end: number };

function isAtWork({ stopped, partitions }: SubscriptionStatus): boolean {
  return stopped === undefined && partitions.every(({ state }) => state !== 'gap' && state !== 'stopped');
}
