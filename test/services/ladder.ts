import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { KafkaServers } from './kafka-servers.ts';
import { MongodServer } from './mongod-server.ts';

/** A server that tests may use. */
export type FoundServer = AsyncDisposable & {
  /** `host:port,…` of Kafka, a URL of MongoDB. */
  readonly address: string;
  /** As it is printed. */
  readonly how: string;
};

export type ServerName = 'Kafka' | 'MongoDB';

type Ladder = {
  readonly variable: string;
  readonly container: () => Promise<FoundServer>;
  readonly local: (port: number | undefined) => Promise<FoundServer>;
};

const ladders: Readonly<Record<ServerName, Ladder>> = {
  Kafka: {
    variable: 'TIDEMARK_TEST_KAFKA',
    container: async () => {
      const { KafkaContainer } = await import('@testcontainers/kafka');
      const container = await new KafkaContainer('confluentinc/cp-kafka:8.1.0').withKraft().start();
      return {
        address: `${container.getHost()}:${container.getMappedPort(9093)}`,
        how: 'in a container',
        [Symbol.asyncDispose]: async () => void (await container.stop()),
      };
    },
    local: async (port) => {
      const servers = await KafkaServers.start(port === undefined ? {} : { port });
      return {
        address: servers.brokers.join(','),
        how: 'Apache Kafka 4.4.0 by Maven coordinates',
        [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
      };
    },
  },
  MongoDB: {
    variable: 'TIDEMARK_TEST_MONGODB',
    container: async () => {
      const { MongoDBContainer } = await import('@testcontainers/mongodb');
      const container = await new MongoDBContainer('mongo:8.0').start();
      return {
        address: `${container.getConnectionString()}?directConnection=true`,
        how: 'in a container',
        [Symbol.asyncDispose]: async () => void (await container.stop()),
      };
    },
    local: async (port) => {
      const server = await MongodServer.start(port === undefined ? {} : { port });
      return {
        address: server.url,
        how: 'mongod 6.0.5 out of a Python package',
        [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
      };
    },
  },
};

/**
 * The first that works: an address in the environment, a container, local binaries out of package registries. Throws
 * with what was wrong at each step if none does. `port` is for local binaries only.
 */
export async function findServer(name: ServerName, port?: number): Promise<FoundServer> {
  const { variable, container, local } = ladders[name];
  const address = process.env[variable];
  if (address !== undefined && address !== '') return at(address, variable);
  const problems: string[] = [`${variable} is not set`];
  if (await hasDocker()) {
    try {
      return await container();
    } catch (error) {
      problems.push(`no container: ${messageOf(error)}`);
    }
  } else {
    problems.push('no Docker daemon answers');
  }
  try {
    return await local(port);
  } catch (error) {
    problems.push(`no local binary: ${messageOf(error)}`);
  }
  throw new Error(`There is no ${name}: ${problems.join('; ')}.`);
}

function at(address: string, variable: string): FoundServer {
  return { address, how: `by ${variable}`, [Symbol.asyncDispose]: async () => {} };
}

async function hasDocker(): Promise<boolean> {
  const ask = promisify(execFile)('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 5_000 });
  return ask.then(
    () => true,
    () => false,
  );
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
