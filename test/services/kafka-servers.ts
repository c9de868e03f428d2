import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, type KafkaConfig, logLevel } from 'kafkajs';
import { command } from './command.ts';
import { freePort } from './free-port.ts';
import { kafkaClassPath } from './kafka-files.ts';
import { type ServerProcess, startServer } from './leash.ts';

const readyWithinMs = 60_000;

export type KafkaOptions = {
  /** Default 1. The first one is the controller too. */
  readonly brokers?: number;
  /** Port of the first broker; default: any free one. */
  readonly port?: number;
  /** More lines of `server.properties`, for all brokers. */
  readonly properties?: Readonly<Record<string, string>>;
  /** What plain clients need beside an address: credentials, say. */
  readonly client?: Partial<KafkaConfig>;
};

type BrokerPlace = { readonly id: number; readonly port: number; readonly folder: string };

/**
 * A cluster of real brokers on this machine, of local binaries. A broker may be stopped, frozen or killed, and started
 * again with what it had on disk. Throws `ServerMissing` where the binaries cannot be had.
 */
export class KafkaServers implements AsyncDisposable {
  readonly #folder: string;
  readonly #classPath: string;
  readonly #places: readonly BrokerPlace[];
  readonly #processes = new Map<number, ServerProcess>();
  #client: Partial<KafkaConfig> = {};

  private constructor(folder: string, classPath: string, places: readonly BrokerPlace[]) {
    this.#folder = folder;
    this.#classPath = classPath;
    this.#places = places;
  }

  static async start({ brokers = 1, port, properties = {}, client = {} }: KafkaOptions = {}): Promise<KafkaServers> {
    const classPath = await kafkaClassPath();
    const folder = await mkdtemp(join(tmpdir(), 'tidemark-kafka-'));
    const places: BrokerPlace[] = [];
    for (let id = 1; id <= brokers; id += 1) {
      const own = id === 1 && port !== undefined ? port : await freePort();
      places.push({ id, port: own, folder: join(folder, String(id)) });
    }
    const servers = new KafkaServers(folder, classPath, places);
    servers.#client = client;
    try {
      await servers.#format(await freePort(), properties);
      await Promise.all(places.map(({ id }) => servers.startBroker(id)));
      await servers.ready();
      return servers;
    } catch (error) {
      await servers[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** `host:port` of all brokers, those that are down included. */
  get brokers(): readonly string[] {
    return this.#places.map(({ port }) => `127.0.0.1:${port}`);
  }

  /** A plain client, for making topics and records and for looking at the cluster. */
  client(): Kafka {
    return new Kafka({ clientId: 'test', brokers: [...this.brokers], logLevel: logLevel.NOTHING, ...this.#client });
  }

  /** Starts a broker that is down. `ready` waits for it. */
  async startBroker(id: number): Promise<void> {
    const { folder } = this.#placeOf(id);
    const options = ['-Xms128m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
    const main = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp', this.#classPath, 'kafka.Kafka'];
    const java = ['java', ...options, ...main, join(folder, 'server.properties')];
    this.#processes.set(id, await startServer(java, join(folder, 'server.log')));
  }

  /** Sends a signal to a broker; after one that ends it, waits for its end. */
  async signalBroker(id: number, name: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const server = this.#processes.get(id);
    server?.signal(name);
    if (name === 'SIGKILL' || name === 'SIGTERM') await server?.over;
  }

  /** Waits until all brokers that were started answer and see each other. */
  async ready(): Promise<void> {
    const wanted = [...this.#processes.values()].filter((server) => !server.isOver()).length;
    const deadline = performance.now() + readyWithinMs;
    for (;;) {
      const broken = this.#places.find(({ id }) => this.#processes.get(id)?.isOver() === true);
      if (broken !== undefined) throw new Error(`Broker ${broken.id} ended.\n${await this.#logOf(broken)}`);
      if ((await this.#brokersSeen()) >= wanted) return;
      if (performance.now() > deadline) {
        const logs = await Promise.all(this.#places.map((place) => this.#logOf(place)));
        throw new Error(`The brokers were not ready within ${readyWithinMs} ms.\n${logs.join('\n')}`);
      }
      await sleep(100);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#processes.values()) server.signal('SIGKILL');
    await Promise.all([...this.#processes.values()].map(({ over }) => over));
    await rm(this.#folder, { recursive: true, force: true });
  }

  #placeOf(id: number): BrokerPlace {
    const place = this.#places.find((each) => each.id === id);
    if (place === undefined) throw new Error(`There is no broker ${id}.`);
    return place;
  }

  async #format(controllerPort: number, properties: Readonly<Record<string, string>>): Promise<void> {
    const cluster = randomBytes(16).toString('base64url');
    for (const place of this.#places) {
      await mkdir(place.folder);
      const file = join(place.folder, 'server.properties');
      await writeFile(file, propertiesOf(place, { controllerPort, properties }));
      const standalone = place.id === 1 ? ['--standalone'] : ['--no-initial-controllers'];
      const tool = [
        '-cp',
        this.#classPath,
        'kafka.tools.StorageTool',
        'format',
        ...standalone,
        '-t',
        cluster,
        '-c',
        file,
      ];
      await command(
        'java',
        ['-XX:TieredStopAtLevel=1', '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', ...tool],
        place.folder,
      );
    }
  }

  async #brokersSeen(): Promise<number> {
    const up = this.#places.filter(({ id }) => this.#processes.get(id)?.isOver() === false);
    const kafka = new Kafka({
      clientId: 'ready',
      brokers: up.map(({ port }) => `127.0.0.1:${port}`),
      logLevel: logLevel.NOTHING,
      connectionTimeout: 1_000,
      retry: { retries: 0 },
      ...this.#client,
    });
    const admin = kafka.admin();
    try {
      await admin.connect();
      return (await admin.describeCluster()).brokers.length;
    } catch {
      return 0;
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
  }

  async #logOf({ folder }: BrokerPlace): Promise<string> {
    const log = await readFile(join(folder, 'server.log'), 'utf8').catch(() => '');
    return log.split('\n').slice(-40).join('\n');
  }
}

function propertiesOf(
  { id, port, folder }: BrokerPlace,
  {
    controllerPort,
    properties,
  }: { readonly controllerPort: number; readonly properties: Readonly<Record<string, string>> },
): string {
  const isController = id === 1;
  const own = `PLAINTEXT://127.0.0.1:${port}`;
  const all = {
    'process.roles': isController ? 'broker,controller' : 'broker',
    'node.id': String(id),
    listeners: isController ? `${own},CONTROLLER://127.0.0.1:${controllerPort}` : own,
    'advertised.listeners': own,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.quorum.bootstrap.servers': `127.0.0.1:${controllerPort}`,
    'log.dirs': join(folder, 'data'),
    'auto.create.topics.enable': 'false',
    'offsets.topic.num.partitions': '1',
    'offsets.topic.replication.factor': '1',
    'transaction.state.log.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    'group.initial.rebalance.delay.ms': '0',
    'log.retention.check.interval.ms': '1000',
    ...properties,
  };
  return `${Object.entries(all)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`;
}
