import { randomUUID } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { eshopCommits } from '../../../examples/eshop/generator/eshop-commits.ts';
import { type KafkaLog, openKafkaLog } from '../../../src/adapters/kafka/index.ts';
import { type MongoStores, openMongo } from '../../../src/adapters/mongo/index.ts';
import { nodeRuntime } from '../../../src/adapters/node/node-runtime.ts';
import { type PositionLine, readPositions } from '../../../src/cli/screen/position-report.ts';
import type { CommitRecord } from '../../../src/log/commit-record.ts';
import { silentLogger } from '../../../src/runtime/logger.ts';
import { KafkaServers } from '../../services/kafka-servers.ts';
import { MongodServer } from '../../services/mongod-server.ts';
import { type Running, Workplace } from '../../support/command-line.ts';
import { EshopModel } from '../../support/eshop-model.ts';

const runtime = nodeRuntime(silentLogger);
const topics = ['order', 'payment', 'buyer', 'brand'].map((name) => `wow.eshop.${name}.state`);
const PARTITIONS = 4;
/** Of the functions, each in the partitions of its topics. */
const POSITIONS = 24;

/** Worker processes on servers of their own, a publisher, and the rows that one delivery of everything would make. */
export class Crew implements AsyncDisposable {
  readonly kafka: KafkaServers;
  readonly mongod: MongodServer;
  readonly #workplace: Workplace;
  readonly #config: string;
  readonly #log: KafkaLog;
  readonly #commits = eshopCommits({ seed: 7 })[Symbol.iterator]();
  readonly #model = new EshopModel();
  readonly #workers: Running[] = [];
  #stores: MongoStores | undefined;

  private constructor(parts: { kafka: KafkaServers; mongod: MongodServer; workplace: Workplace; config: string }) {
    this.kafka = parts.kafka;
    this.mongod = parts.mongod;
    this.#workplace = parts.workplace;
    this.#config = parts.config;
    const { brokers } = this.kafka;
    this.#log = openKafkaLog({ brokers, clientId: `publisher-${randomUUID()}`, runtime });
  }

  static async start(): Promise<Crew> {
    await using started = new AsyncDisposableStack();
    // Who is killed is missed soon.
    const properties = { 'group.min.session.timeout.ms': '1000' };
    const kafka = started.use(await KafkaServers.start({ brokers: 2, properties }));
    const mongod = started.use(await MongodServer.start());
    const workplace = started.use(await Workplace.open());
    const config = await workplace.write('worker.yaml', configOf(kafka, mongod));
    const crew = new Crew({ kafka, mongod, workplace, config });
    started.move();
    await crew.#log.ensureTopics(topics, { partitions: PARTITIONS });
    return crew;
  }

  /** A worker process that follows. */
  worker(): Running {
    const started = this.#workplace.start(['run', '--config', this.#config], { environment: this.#environment });
    this.#workers.push(started);
    return started;
  }

  /** A command that ends by itself. */
  command(...args: readonly string[]) {
    return this.#workplace.run([...args, '--config', this.#config], { environment: this.#environment });
  }

  get #environment(): Readonly<Record<string, string>> {
    return { TRACE_FOLDER: this.#workplace.folder };
  }

  /** Appends so many more commits of the shop. */
  async publish(count: number): Promise<void> {
    const commits: CommitRecord[] = [];
    while (commits.length < count) {
      const next = this.#commits.next();
      if (next.done === true) throw new Error('The shop has closed.');
      commits.push(next.value);
    }
    await this.#log.append(commits.map((commit) => JSON.stringify(commit)));
    this.#model.takeAll(commits);
  }

  /** Goes on publishing while `work` lasts. */
  async publishDuring(work: () => Promise<void>): Promise<void> {
    const over = new AbortController();
    const publishing = this.#publishUntil(over.signal);
    try {
      await work();
    } finally {
      over.abort();
      await publishing;
    }
  }

  async #publishUntil(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await this.publish(50);
      await sleep(50);
    }
  }

  async positions(): Promise<readonly PositionLine[]> {
    const { checkpoints, readModels, ledger } = await this.#opened();
    return readPositions({ log: this.#log.log, checkpoints, readModels, ledger });
  }

  /** Waits until all that was published is handled. */
  async settled(withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const lines = await this.positions();
      const behind = lines.filter(({ lag }) => lag > 0);
      if (lines.length === POSITIONS && behind.length === 0) return;
      const ended = this.#workers.filter(({ child }) => child.exitCode !== null && child.exitCode !== 0);
      for (const worker of ended) throw new Error(`A worker ended: ${(await worker.ended()).stderr.slice(-2_000)}`);
      if (performance.now() > deadline) throw new Error(`Not settled: ${JSON.stringify(behind, undefined, 1)}`);
      await sleep(100);
    }
  }

  /** What differs from one delivery of everything; empty: nothing, and nothing is parked. */
  async problems(): Promise<readonly string[]> {
    const { readModels, ledger } = await this.#opened();
    const problems = (await ledger.list({}, 10)).map(({ ref, failure }) => `${ref}: ${failure?.cause.message}`);
    for (const [model, expected] of Object.entries(this.#model.rows())) {
      const rows = await readModels.readRows(model, { afterId: undefined, limit: 1_000_000 });
      const found = new Map(rows.map(({ id, row }) => [id, row]));
      if (found.size !== expected.size) problems.push(`${model}: ${found.size} rows, not ${expected.size}`);
      for (const [id, row] of expected) {
        const own = found.get(id);
        if (!isDeepStrictEqual(own, row)) problems.push(`${model} ${id}: ${JSON.stringify(own)}`);
      }
    }
    return [...problems.slice(0, 20), ...(await this.#orderProblems())];
  }

  /** The first of these workers that handles something from now on. */
  async busy(workers: readonly Running[], withinMs: number): Promise<Running> {
    const sizes = () => Promise.all(workers.map(({ child }) => this.#traced(child.pid)));
    const before = await sizes();
    const deadline = performance.now() + withinMs;
    while (performance.now() < deadline) {
      const now = await sizes();
      const found = workers.find((_, n) => (now[n] ?? 0) > (before[n] ?? 0));
      if (found !== undefined) return found;
      await sleep(20);
    }
    throw new Error(`Nobody handled anything within ${withinMs} ms.`);
  }

  async #traced(pid: number | undefined): Promise<number> {
    const file = join(this.#workplace.folder, `${pid}.trace`);
    return stat(file).then(
      ({ size }) => size,
      () => 0,
    );
  }

  /** A version that a process went to although nobody had handled the one before it. */
  async #orderProblems(): Promise<readonly string[]> {
    const calls: { readonly atMs: number; readonly id: string; readonly version: number }[] = [];
    for (const name of await readdir(this.#workplace.folder)) {
      if (!name.endsWith('.trace')) continue;
      const text = await readFile(join(this.#workplace.folder, name), 'utf8');
      for (const line of text.split('\n').slice(0, -1)) {
        const [atMs = '', id = '', version = ''] = line.split(' ');
        calls.push({ atMs: Number(atMs), id, version: Number(version) });
      }
    }
    const highest = new Map<string, number>();
    const problems: string[] = [];
    for (const { id, version } of calls.toSorted((a, b) => a.atMs - b.atMs)) {
      const before = highest.get(id) ?? 0;
      if (version > before + 1) problems.push(`${id} version ${version} was handled after version ${before}`);
      highest.set(id, Math.max(before, version));
    }
    return problems.slice(0, 20);
  }

  async #opened(): Promise<MongoStores> {
    this.#stores ??= await openMongo({ url: this.mongod.url, database: 'shop', service: undefined, runtime });
    return this.#stores;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#workplace[Symbol.asyncDispose]();
    await this.#log.close();
    await this.#stores?.close();
    await this.mongod[Symbol.asyncDispose]();
    await this.kafka[Symbol.asyncDispose]();
  }
}

function configOf(kafka: KafkaServers, mongod: MongodServer): string {
  return JSON.stringify({
    app: fileURLToPath(new URL('app.ts', import.meta.url)),
    log: { kind: 'kafka', brokers: kafka.brokers, clientId: 'crew', sessionTimeout: '2s', rebalanceTimeout: '10s' },
    store: { kind: 'mongodb', url: mongod.url, database: 'shop' },
    // Small ones, so that there is always one on the wire.
    defaults: { batch: { records: 200 } },
  });
}
