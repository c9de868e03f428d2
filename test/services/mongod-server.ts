import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { freePort } from './free-port.ts';
import { type ServerProcess, startServer } from './leash.ts';
import { mongodBinary } from './mongod-files.ts';

const readyWithinMs = 60_000;

export type MongodOptions = {
  /** Default: any free one. */
  readonly port?: number;
  /** Started on its own, not as a replica set. */
  readonly isStandalone?: boolean;
};

/**
 * A real mongod on this machine, of a local binary, as a replica set of one member. It may be stopped, frozen or killed,
 * and started again with what it had on disk. Throws `ServerMissing` where the binary cannot be had.
 */
export class MongodServer implements AsyncDisposable {
  readonly port: number;
  readonly #folder: string;
  readonly #command: readonly string[];
  readonly #isStandalone: boolean;
  #process: ServerProcess | undefined;

  private constructor(folder: string, binary: string, { port, isStandalone }: Required<MongodOptions>) {
    this.port = port;
    this.#folder = folder;
    this.#isStandalone = isStandalone;
    const set = isStandalone ? [] : ['--replSet', 'rs0'];
    const place = [
      '--dbpath',
      join(folder, 'data'),
      '--port',
      String(port),
      '--bind_ip',
      '127.0.0.1',
      '--nounixsocket',
    ];
    this.#command = [binary, ...place, ...set, '--wiredTigerCacheSizeGB', '1', '--quiet'];
  }

  static async start({ port, isStandalone = false }: MongodOptions = {}): Promise<MongodServer> {
    const binary = await mongodBinary();
    const folder = await mkdtemp(join(tmpdir(), 'tidemark-mongod-'));
    await mkdir(join(folder, 'data'));
    const server = new MongodServer(folder, binary, { port: port ?? (await freePort()), isStandalone });
    try {
      await server.start();
      if (!isStandalone) await server.#initiate();
      await server.ready();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  get url(): string {
    const direct = `mongodb://127.0.0.1:${this.port}/?directConnection=true`;
    return this.#isStandalone ? direct : `mongodb://127.0.0.1:${this.port}/?replicaSet=rs0`;
  }

  /** Starts it when it is down. `ready` waits for it. */
  async start(): Promise<void> {
    this.#process = await startServer(this.#command, join(this.#folder, 'mongod.log'));
  }

  /** Sends a signal; after one that ends it, waits for its end. */
  async signal(name: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    this.#process?.signal(name);
    if (name === 'SIGKILL' || name === 'SIGTERM') await this.#process?.over;
  }

  /** Waits until it takes writes. */
  async ready(): Promise<void> {
    await this.#until(async (client) => {
      const { isWritablePrimary } = await client.db('admin').command({ hello: 1 });
      return isWritablePrimary === true;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process?.signal('SIGKILL');
    await this.#process?.over;
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #initiate(): Promise<void> {
    await this.#until(async (client) => {
      const members = [{ _id: 0, host: `127.0.0.1:${this.port}` }];
      await client.db('admin').command({ replSetInitiate: { _id: 'rs0', members } });
      return true;
    });
  }

  async #until(done: (client: MongoClient) => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + readyWithinMs;
    for (;;) {
      if (this.#process?.isOver() !== false) throw new Error(`mongod ended.\n${await this.#log()}`);
      const url = `mongodb://127.0.0.1:${this.port}/?directConnection=true`;
      const client = new MongoClient(url, { serverSelectionTimeoutMS: 1_000 });
      try {
        if (await done(client)) return;
      } catch (error) {
        if (performance.now() > deadline) throw error;
      } finally {
        await client.close();
      }
      if (performance.now() > deadline) throw new Error(`mongod was not ready within ${readyWithinMs} ms.`);
      await sleep(100);
    }
  }

  async #log(): Promise<string> {
    const log = await readFile(join(this.#folder, 'mongod.log'), 'utf8').catch(() => '');
    return log.split('\n').slice(-20).join('\n');
  }
}
