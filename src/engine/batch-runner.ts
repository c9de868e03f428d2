import type { Scope } from '../checkpoints/epoch.ts';
import type { FailureLedger } from '../failures/failure-ledger.ts';
import type { CommitCodec } from '../log/commit-codec.ts';
import { OffsetOutOfRangeError } from '../log/offset-out-of-range-error.ts';
import { isAborted } from '../runtime/aborted.ts';
import { assert } from '../runtime/assert.ts';
import { UnavailableError } from '../runtime/errors.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { SubscriptionSettings } from '../subscriptions/settings.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import type { Committer } from './committer.ts';
import { drainSequence } from './drain.ts';
import type { Isolation } from './isolation.ts';
import type { ParkedSequences } from './parked-sequences.ts';
import type { PartitionReader } from './partition-reader.ts';
import type { RunEnd } from './run-end.ts';
import { Selector } from './selector.ts';
import { type Stop, Window } from './window.ts';
import { WindowCommitter } from './window-committer.ts';
import { WindowFiller } from './window-filler.ts';
import type { WindowPermits } from './window-permits.ts';

export type BatchRunnerOptions = {
  readonly subscription: Subscription;
  readonly settings: SubscriptionSettings;
  readonly codec: CommitCodec;
  readonly reader: PartitionReader;
  readonly committer: Committer;
  readonly ledger: FailureLedger;
  readonly parked: ParkedSequences;
  readonly permits: WindowPermits;
  readonly isolation: Isolation;
  readonly scope: Scope;
  readonly runtime: Runtime;
  /** Told when the handled position may have moved: everything below is committed or was nothing to anybody. */
  readonly onProgress: (position: number, taken: number) => void;
  /** Told when nothing more is taken until a retry makes room in the ledger. */
  readonly onStanding: (stop: Stop) => void;
};

/** After so long on the loop everybody else has a turn. */
const TURN_MS = 20;

/** Without records or retries in sight the runner looks around this often. */
const IDLE_MS = 1_000;

/**
 * Runs one owned partition of a projection: takes a window of what the log holds, handles and coalesces it, commits it in
 * fenced transactions; while one window is on the wire the next one is prepared. Whatever a window comes to but
 * `committed` discards the one prepared behind it: the run ends and goes on from the checkpoint.
 */
export class BatchRunner {
  readonly #options: BatchRunnerOptions;
  readonly #filler: WindowFiller;
  readonly #windows: WindowCommitter;
  /** Aborts the gathering of a window whose predecessor was not committed. */
  readonly #interrupted = new AbortController();
  #inFlight: Promise<RunEnd | undefined> | undefined;
  /** Whether what `#inFlight` stands for is not over yet. */
  #isOnWire = false;
  /** The window that went onto the wire last. */
  #started: Window | undefined;
  /** Everything below is committed, on the wire, or was nothing to anybody. */
  #position: number;
  #unsavedSinceMs: number | undefined;

  constructor(options: BatchRunnerOptions) {
    this.#options = options;
    this.#position = options.committer.offset;
    this.#filler = new WindowFiller({
      selector: new Selector(options.codec, options.subscription),
      codec: options.codec,
      handler: options.subscription.handler,
      parked: options.parked,
      isolation: options.isolation,
      clock: options.runtime.clock,
    });
    this.#windows = new WindowCommitter({
      committer: options.committer,
      reader: options.reader,
      parked: options.parked,
      isolation: options.isolation,
      transaction: options.settings.transaction,
      clock: options.runtime.clock,
    });
  }

  async run(signal: AbortSignal): Promise<RunEnd> {
    const { subscription, settings } = this.#options;
    const reading = AbortSignal.any([signal, this.#interrupted.signal]);
    try {
      let end: RunEnd | undefined;
      while (end === undefined && !signal.aborted) {
        const window = new Window(this.#position, { subscription, bounds: settings.batch });
        try {
          await this.#gather(window, reading);
          end = await this.#settle();
          if (end === undefined && !isAborted(signal)) end = await this.#accept(window, signal);
        } finally {
          // On the wire it gives its permit back itself.
          if (window !== this.#started) window.release();
        }
      }
      return end ?? (await this.#conclude()) ?? { kind: 'aborted' };
    } catch (error) {
      const end = endOfError(error);
      return (await this.#conclude()) ?? end;
    } finally {
      // Nothing of this run may be on the wire once it is over.
      await this.#inFlight?.catch(() => undefined);
    }
  }

  /** What has to come to an end before the run may. */
  async #conclude(): Promise<RunEnd | undefined> {
    return (await this.#settle()) ?? this.#savePosition();
  }

  /** Takes records until the window is full, or holds all there is and nothing is on the wire. */
  async #gather(window: Window, signal: AbortSignal): Promise<void> {
    const { reader, runtime } = this.#options;
    let turnStartedMs = runtime.clock.monotonicMs();
    while (!window.isFull) {
      const record = reader.peek();
      if (record === undefined) {
        // Asked once a page or turn: an answer costs something where signals are combined.
        if (signal.aborted || !(await this.#readOn(window, signal))) return;
        turnStartedMs = runtime.clock.monotonicMs();
        continue;
      }
      if (!this.#filler.take(record, window)) {
        assert(window.hasEffects || window.stop !== undefined, 'an empty window takes any commit');
        return;
      }
      reader.skip();
      window.advance(reader.offset, 1);
      if (runtime.clock.monotonicMs() - turnStartedMs < TURN_MS) continue;
      // Handlers that take their time must not keep others from theirs, a signal to stop included.
      await runtime.clock.yield();
      if (isAborted(signal)) return;
      turnStartedMs = runtime.clock.monotonicMs();
    }
  }

  /** Reads the next page; false once the window should be looked at. */
  async #readOn(window: Window, signal: AbortSignal): Promise<boolean> {
    const { settings, runtime, permits } = this.#options;
    if (window.isLarge && !window.hasPermit) {
      const permit = await permits.acquire(signal);
      if (permit === undefined) return false;
      window.permit(permit, runtime.clock.monotonicMs());
    }
    if (!window.hasEffects) {
      // What nobody wants is progress too, to be told and saved in time.
      if (window.hasProgress && !this.#isOnWire) return false;
      return this.#fill(window, this.#idleMs(), signal);
    }
    // However slow the handlers are: a worker that is killed again and again still gets somewhere.
    if (runtime.clock.monotonicMs() - window.openedAtMs >= settings.batch.gatherMs) return false;
    if (await this.#fill(window, 0, signal)) return true;
    if (this.#inFlight !== undefined) {
      // Group commit: what arrives while a window is on the wire joins the next one.
      await this.#inFlight;
      return this.#fill(window, 0, signal);
    }
    const waitMs = settings.batch.waitMs - (runtime.clock.monotonicMs() - window.openedAtMs);
    return waitMs > 0 && this.#fill(window, waitMs, signal);
  }

  async #fill(window: Window, waitMs: number, signal: AbortSignal): Promise<boolean> {
    const { reader, runtime } = this.#options;
    const before = reader.offset;
    try {
      await reader.fill(waitMs, signal);
    } catch (error) {
      // What was gathered is not thrown away with it; an empty window meets the error again.
      if (!window.hasProgress) throw error;
      return false;
    }
    window.advance(reader.offset, 0);
    if (!window.hasEffects) window.openedAtMs = runtime.clock.monotonicMs();
    return reader.peek() !== undefined || reader.offset > before;
  }

  async #accept(window: Window, signal: AbortSignal): Promise<RunEnd | undefined> {
    const { onProgress, parked, isolation, runtime } = this.#options;
    if (window.alone !== undefined) {
      const end = await this.#windows.commitAlone(window, window.alone);
      // With room for it, the commit is taken once more from the checkpoint.
      if (end?.kind === 'stopped') return (await this.#waitForRoom(end, signal)) ?? { kind: 'isolate', isolation };
      if (end !== undefined) return end;
    } else if (window.hasEffects) {
      this.#start(window);
    } else if (window.hasProgress) {
      this.#unsavedSinceMs ??= runtime.clock.monotonicMs();
    }
    this.#position = window.next;
    if (this.#inFlight === undefined) onProgress(window.next, window.taken);
    if (window.stop !== undefined) return (await this.#conclude()) ?? this.#waitForRoom(window.stop, signal);
    if (parked.nextDueAtMs <= runtime.clock.nowMs()) return (await this.#settle()) ?? this.#drain(signal);
    return this.#isSaveDue() ? this.#savePosition() : undefined;
  }

  /** Whether a position that only moved over what nobody wants has waited long enough. */
  #isSaveDue(): boolean {
    const { settings, committer, runtime } = this.#options;
    const unsaved = this.#position - committer.offset;
    if (this.#inFlight !== undefined || unsaved <= 0) return false;
    const waitedMs = runtime.clock.monotonicMs() - (this.#unsavedSinceMs ?? 0);
    return unsaved >= settings.checkpoint.records || waitedMs >= settings.checkpoint.intervalMs;
  }

  #start(window: Window): void {
    const commit = async (): Promise<RunEnd | undefined> => {
      const end = await this.#windows.commit(window);
      this.#isOnWire = false;
      window.release();
      if (end === undefined) this.#options.onProgress(window.next, window.taken);
      else this.#interrupted.abort();
      return end;
    };
    this.#isOnWire = true;
    this.#started = window;
    this.#inFlight = commit().catch((error: unknown) => {
      window.release();
      this.#interrupted.abort();
      throw error;
    });
    // `settle` reports it; until somebody does, a rejection must not end the process.
    this.#inFlight.catch(() => undefined);
    this.#unsavedSinceMs = undefined;
  }

  /** What became of the window on the wire; `undefined`: it is committed, or there was none. */
  async #settle(): Promise<RunEnd | undefined> {
    const end = await this.#inFlight;
    this.#inFlight = undefined;
    return end;
  }

  async #drain(signal: AbortSignal): Promise<RunEnd | undefined> {
    const { parked, runtime, settings, onProgress, ...options } = this.#options;
    const sequence = parked.due(runtime.clock.nowMs());
    if (sequence === undefined) return undefined;
    const { transaction } = settings;
    const outcome = await drainSequence(sequence, { ...options, parked, transaction, clock: runtime.clock, signal });
    onProgress(this.#position, 0);
    return outcome.kind === 'fenced' || outcome.kind === 'aborted' ? outcome : undefined;
  }

  /** Tries heads when they are due until the ledger has less; without one that is ever due an operator must make room. */
  async #waitForRoom(stop: Stop, signal: AbortSignal): Promise<RunEnd | undefined> {
    const { parked, runtime, onStanding } = this.#options;
    const { entries } = parked;
    while (parked.entries >= entries && !isAborted(signal)) {
      const dueAtMs = parked.nextDueAtMs;
      if (dueAtMs === Number.POSITIVE_INFINITY) return { ...stop, kind: 'stopped' };
      onStanding(stop);
      await runtime.clock.sleep(Math.max(0, dueAtMs - runtime.clock.nowMs()), signal);
      const end = isAborted(signal) ? undefined : await this.#drain(signal);
      if (end !== undefined) return end;
    }
    return undefined;
  }

  async #savePosition(): Promise<RunEnd | undefined> {
    const { committer } = this.#options;
    this.#unsavedSinceMs = undefined;
    if (this.#position <= committer.offset) return undefined;
    const outcome = await committer.save(this.#position);
    return outcome.kind === 'fenced' || outcome.kind === 'aborted' ? outcome : undefined;
  }

  /** How long to wait for records: until a position should be saved or a parked head may be tried. */
  #idleMs(): number {
    const { parked, settings, runtime, committer, reader } = this.#options;
    // The first look says at once whether the log holds this position.
    if (!reader.hasAnswer) return 0;
    const untilRetryMs = parked.nextDueAtMs - runtime.clock.nowMs();
    const untilSaveMs =
      this.#position <= committer.offset || this.#unsavedSinceMs === undefined
        ? IDLE_MS
        : this.#unsavedSinceMs + settings.checkpoint.intervalMs - runtime.clock.monotonicMs();
    return Math.max(0, Math.min(IDLE_MS, untilRetryMs, untilSaveMs));
  }
}

function endOfError(error: unknown): RunEnd {
  if (error instanceof OffsetOutOfRangeError) return { kind: 'gap', reason: error.message };
  if (error instanceof UnavailableError) return { kind: 'unavailable', error };
  throw error;
}
