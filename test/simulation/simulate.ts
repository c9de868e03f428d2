import type { LogSession } from '../../src/log/log-source.ts';
import { defaultSettings, type SubscriptionSettings } from '../../src/subscriptions/settings.ts';
import type { Stores } from '../../src/subscriptions/stores.ts';
import { integerBelow, isDrawn, pick } from '../../src/testing/world/chance.ts';
import { noFaults, randomFaults, swarm } from '../../src/testing/world/faults.ts';
import type { MemoryLogSession } from '../../src/testing/world/memory-log-session.ts';
import { type Process, World } from '../../src/testing/world/world.ts';
import { type Checked, endProblems, momentProblems } from './checks.ts';
import { Coordinator } from './coordinator.ts';
import { type FunctionName, functionNames, scopeOf, shopWorker, topicsOf } from './shop.ts';
import { Workload } from './workload.ts';

export type SimulationOptions = {
  readonly seed: number;
  /** Puts faulty stores in place of the world's, to show that the simulation notices. */
  readonly mutation?: (world: World) => Stores;
};

export type SimulationResult = {
  readonly seed: number;
  /** Empty: everything held. */
  readonly problems: readonly string[];
  /** The same for every run of a seed. */
  readonly digest: string;
  readonly published: number;
  readonly trace: readonly string[];
};

type Running = { readonly process: Process; readonly sessions: MemoryLogSession[] };

const STEPS_MAX = 60;
const PUBLISHED_MAX = 150;
const STEP_MS_MAX = 400;

/** One run: the real engine in a world in which everything goes wrong that the seed says, until all is calm. */
export async function simulate({ seed, mutation }: SimulationOptions): Promise<SimulationResult> {
  const simulation = new Simulation(seed, mutation);
  const problems = await simulation.run().catch((error: unknown) => [`threw ${describe(error)}`]);
  const { world, workload } = simulation;
  return {
    seed,
    problems,
    digest: world.trace.digest,
    published: workload.published.length,
    trace: world.trace.lastLines,
  };
}

class Simulation {
  readonly world: World;
  readonly workload: Workload;
  readonly #coordinator: Coordinator;
  readonly #functions: readonly FunctionName[];
  readonly #stores: Stores;
  readonly #running: Running[] = [];
  readonly #ended: Process[] = [];
  readonly #stopping: Promise<void>[] = [];
  readonly #highest = new Map<string, number>();
  readonly #rates: {
    readonly crash: number;
    readonly stop: number;
    readonly outage: number;
    readonly jump: number;
    readonly growth: number;
  };
  readonly #publishing: number;

  constructor(seed: number, mutation: SimulationOptions['mutation']) {
    this.world = new World({ seed, assigning: 'by hand' });
    const { random, log } = this.world;
    this.#stores = mutation?.(this.world) ?? this.world.stores;
    this.workload = new Workload(random, log, 1 + integerBelow(random, 3));
    this.#coordinator = new Coordinator(this.world);
    const chosen = functionNames.filter(() => isDrawn(random, 0.4));
    this.#functions = chosen.length > 0 ? chosen : [pick(random, functionNames)];
    this.#rates = {
      crash: pick(random, [0, 0.05, 0.2]),
      stop: pick(random, [0, 0.05, 0.2]),
      outage: pick(random, [0, 0, 0.1]),
      jump: pick(random, [0, 0, 0.1]),
      growth: pick(random, [0, 0, 0.04]),
    };
    this.#publishing = pick(random, [1, 3, 8]);
  }

  async run(): Promise<readonly string[]> {
    const { random, clock } = this.world;
    const processes = 1 + integerBelow(random, 2);
    for (let number = 0; number < processes; number += 1) this.#start();
    for (let step = 0; step < STEPS_MAX; step += 1) {
      this.#publish();
      this.#coordinator.step();
      this.#disturb();
      await clock.advance(integerBelow(random, STEP_MS_MAX));
      const problems = this.#check();
      if (problems.length > 0) return problems;
    }
    this.workload.finish();
    return this.#calm();
  }

  get #checked(): Checked {
    return { world: this.world, functions: this.#functions, published: this.workload.published };
  }

  #publish(): void {
    const records = integerBelow(this.world.random, this.#publishing + 1);
    for (let number = 0; number < records && this.workload.published.length < PUBLISHED_MAX; number += 1) {
      this.workload.step();
    }
  }

  #disturb(): void {
    const { random, clock, down } = this.world;
    const { crash, stop, outage, jump, growth } = this.#rates;
    if (isDrawn(random, growth)) this.workload.grow();
    if (isDrawn(random, crash)) this.#crash();
    if (isDrawn(random, stop)) this.#stop();
    if (this.#running.length === 0 || (this.#running.length === 1 && isDrawn(random, 0.1))) this.#start();
    if (isDrawn(random, jump)) clock.jump(integerBelow(random, 600_000) - 300_000);
    if (isDrawn(random, outage)) {
      const side = pick(random, ['store', 'log'] as const);
      down.add(side);
      clock.at(integerBelow(random, 8_000), () => down.delete(side));
    }
  }

  #start(): void {
    const { world } = this;
    const { random, log } = world;
    const sessions: MemoryLogSession[] = [];
    const pageMax = pick(random, [1, 3, 1_000]);
    const open = (subscription: string, topics: readonly string[]): LogSession => {
      const session = log.open(subscription, topics);
      sessions.push(session);
      return {
        assignments: (signal) => session.assignments(signal),
        pull: (from, limits, signal) => session.pull(from, { ...limits, records: pageMax }, signal),
        stop: () => session.stop(),
      };
    };
    const stores: Stores = {
      ...this.#stores,
      log: {
        open,
        describe: (topic, partitions) => log.describe(topic, partitions),
        offsetsAt: (topic, instantMs) => log.offsetsAt(topic, instantMs),
        readAt: (position) => log.readAt(position),
        mirror: () => log.mirror(),
      },
    };
    const faults = randomFaults(random, swarm(random));
    const process = world.process(shopWorker(this.#functions), { faults, stores, settings: this.#settings() });
    this.#running.push({ process, sessions });
    process.engine.start();
  }

  #settings(): SubscriptionSettings {
    const { random } = this.world;
    return {
      ...defaultSettings,
      batch: {
        records: pick(random, [1, 2, 5, 50, 100_000]),
        bytes: pick(random, [1_000, 64 * 1024 * 1024]),
        waitMs: pick(random, [0, 0, 50]),
        gatherMs: pick(random, [0, 20, 5_000]),
      },
      transaction: {
        liveDocuments: pick(random, [1, 2, 5, 500]),
        behindDocuments: pick(random, [1, 3, 5_000]),
        bytes: pick(random, [1_000, 8 * 1024 * 1024]),
      },
      checkpoint: { records: pick(random, [1, 10, 10_000]), intervalMs: pick(random, [10, 1_000]) },
    };
  }

  /** The process is gone in the middle of whatever it did. */
  #crash(): void {
    const [gone] = this.#take();
    if (gone === undefined) return;
    this.world.trace.note(`${this.world.clock.monotonicMs()} ${gone.process.name} crashes`);
    gone.process.wire.cut();
    this.#coordinator.lose(gone.sessions);
    this.#ended.push(gone.process);
  }

  #stop(): void {
    const [stopped] = this.#take();
    if (stopped === undefined) return;
    this.world.trace.note(`${this.world.clock.monotonicMs()} ${stopped.process.name} is stopped`);
    this.#ended.push(stopped.process);
    this.#stopping.push(stopped.process.engine.stop());
  }

  #take(): readonly Running[] {
    return this.#running.splice(integerBelow(this.world.random, this.#running.length), 1);
  }

  #check(): readonly string[] {
    const processes = [...this.#running.map(({ process }) => process), ...this.#ended];
    const failures = processes.flatMap(({ name, failures: own }) => own.map((each) => `${name}: ${describe(each)}`));
    return [...failures, ...momentProblems(this.#checked, this.#highest)];
  }

  /** Nothing goes wrong any more: everything comes to its end, also what waits for a retry. */
  async #calm(): Promise<readonly string[]> {
    const { clock, down } = this.world;
    // Outages that were begun end by themselves.
    await clock.advance(10_000);
    down.clear();
    if (this.#running.length === 0) this.#start();
    for (const { process } of this.#running) process.wire.faults = noFaults;
    await clock.advance(10_000);
    this.#coordinator.settle();
    for (let round = 0; round < 12 && !this.#isSettled(); round += 1) {
      await clock.advance(round === 0 ? 40_000 : 4_000);
      // Retries in the background are hours apart.
      clock.jump(7 * 3_600_000);
      this.#coordinator.settle();
    }
    const problems = [...this.#check(), ...(await endProblems(this.#checked))];
    await clock.runUntil(
      Promise.all([...this.#stopping, ...this.#running.map(({ process }) => process.engine.stop())]),
    );
    return problems;
  }

  #isSettled(): boolean {
    const { stores, log } = this.world;
    return this.#functions.every((name) => {
      const scope = scopeOf(name);
      const sequences = Map.groupBy(stores.tables.entriesOf(scope), ({ sequence }) => sequence);
      // Where none failed itself, the head was handled in another partition, which shows after a while.
      const hasRetry = [...sequences.values()].some(
        (entries) =>
          entries.every(({ failure }) => failure === undefined) ||
          entries.some(({ failure }) => failure?.nextRetryAtMs !== undefined),
      );
      const isAtEnd = topicsOf(name).every((topic) =>
        log
          .partitionsOf(topic)
          .every(({ partition, end }) => stores.checkpoints.stored(scope, { topic, partition })?.offset === end),
      );
      return isAtEnd && !hasRetry;
    });
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
