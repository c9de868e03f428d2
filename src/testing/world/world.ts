import { Engine } from '../../engine/engine.ts';
import type { Clock } from '../../runtime/clock.ts';
import { silentMeter } from '../../runtime/meter.ts';
import type { Random } from '../../runtime/random.ts';
import { defaultSettings, type SubscriptionSettings } from '../../subscriptions/settings.ts';
import type { Stores } from '../../subscriptions/stores.ts';
import type { Worker } from '../../subscriptions/worker.ts';
import { seededRandom } from '../seeded-random.ts';
import { type Faults, noFaults, type Operation } from './faults.ts';
import { MemoryLog } from './memory-log.ts';
import { type MemoryStores, memoryStores } from './memory-stores.ts';
import { Trace, tracingLogger } from './trace.ts';
import { VirtualClock } from './virtual-clock.ts';
import { Wire } from './wire.ts';
import { wiredStores } from './wired-stores.ts';

export type WorldOptions = {
  /** Decides everything that is left to chance; default 1. */
  readonly seed?: number;
  /** `by hand`: sessions own only what the test assigns. */
  readonly assigning?: 'all' | 'by hand';
  readonly rowBytesMax?: number;
};

export type ProcessOptions = {
  readonly name?: string;
  readonly faults?: Faults;
  readonly settings?: SubscriptionSettings;
  /** Other stores than the world's. */
  readonly stores?: Stores;
};

/** One worker process: an engine at the end of a wire. */
export type Process = {
  readonly name: string;
  readonly engine: Engine;
  readonly wire: Wire;
  /** What `engine.failed` rejected with. */
  readonly failures: readonly unknown[];
};

/** A log, stores and a clock in memory, and worker processes on them. One seed, one course of events. */
export class World {
  readonly clock: VirtualClock;
  readonly random: Random;
  readonly log: MemoryLog;
  readonly stores: MemoryStores & Stores;
  readonly trace = new Trace();
  /** Which sides cannot be reached now. */
  readonly down = new Set<'log' | 'store'>();
  #processes = 0;

  constructor({ seed = 1, assigning = 'all', rowBytesMax }: WorldOptions = {}) {
    this.random = seededRandom(seed);
    this.clock = new VirtualClock({ random: this.random });
    this.log = new MemoryLog({ clock: this.clock, assigning });
    const stores = memoryStores({ clock: this.clock, ...(rowBytesMax === undefined ? {} : { rowBytesMax }) });
    this.stores = { ...stores, log: this.log };
  }

  /** A process that is not started yet. */
  process(worker: Worker, options: ProcessOptions = {}): Process {
    const name = options.name ?? `process-${(this.#processes += 1)}`;
    const { faults = noFaults, settings = defaultSettings, stores = this.stores } = options;
    const note = (line: string): void => this.trace.note(`${this.clock.monotonicMs()} ${name} ${line}`);
    const wire = new Wire({ clock: this.clock, note, faults, isDown: (operation) => this.#isDown(operation) });
    const engine = new Engine({
      worker,
      owner: name,
      settings: () => settings,
      stores: wiredStores(stores, wire),
      runtime: {
        clock: wiredClock(this.clock, wire),
        random: this.random,
        ids: { next: () => `id-${this.random.next()}` },
        logger: tracingLogger((line) => {
          if (!wire.isCut) note(line);
        }),
        meter: silentMeter,
      },
    });
    const failures: unknown[] = [];
    engine.failed.catch((error: unknown) => failures.push(error));
    return { name, engine, wire, failures };
  }

  #isDown(operation: Operation): boolean {
    return this.down.has(operation.startsWith('log.') ? 'log' : 'store');
  }
}

/** The clock as a process sees it. */
function wiredClock(clock: Clock, wire: Wire): Clock {
  return {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    sleep: (ms, signal) => wire.sleep(ms, signal),
    yield: () => wire.sleep(0),
  };
}
