import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { pid } from 'node:process';
import { type EmbeddedFile, type EmbeddedRole, openEmbedded } from '../adapters/embedded/index.ts';
import type { KafkaLog, TopicRetention } from '../adapters/kafka/index.ts';
import type { MongoStores } from '../adapters/mongo/index.ts';
import { nodeRuntime } from '../adapters/node/node-runtime.ts';
import { pinoLogger } from '../adapters/node/pino-logger.ts';
import { uuidIds } from '../adapters/node/uuid-ids.ts';
import type { ConfigValues } from '../config/schema.ts';
import type { AppendOptions, AppendResult } from '../log/append/append-options.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Stores } from '../subscriptions/stores.ts';
import { ConfigFileError } from './config-file-error.ts';
import type { Terminal } from './screen/terminal.ts';

export type { KafkaLog, MongoStores, TopicRetention };

/** Stores that are open, and closed by whoever opened them. */
export type Opened = AsyncDisposable & {
  readonly stores: Stores;
  /** What `check` asks beyond the ports. */
  readonly kafka: KafkaLog | undefined;
  readonly mongo: MongoStores | undefined;
};

/** A log that takes commits. */
export type Appendable = AsyncDisposable & {
  append(lines: AsyncIterable<string>, options: AppendOptions): Promise<AppendResult>;
};

/** Whoever only looks waits for a server so long; a worker for ever. */
const READER_CONNECT_MS = 10_000;

type FollowOptions = {
  readonly runtime: Runtime;
  /** Whose the stores are. */
  readonly service: string;
  /** Ends the waiting for a store that is down. */
  readonly signal: AbortSignal;
  /** How long to wait for one, milliseconds; default for ever. */
  readonly connectMaxMs?: number;
};

/** For one worker process, which is alone on an embedded file. Throws `FILE_HELD` beside another one. */
export function openForFollowing(config: ConfigValues, options: FollowOptions): Promise<Opened> {
  return openStores(config, { connectMaxMs: Number.POSITIVE_INFINITY, ...options, role: 'follower' });
}

/** For commands that look. What is not there is not made. */
export function openForReading(config: ConfigValues, runtime: Runtime): Promise<Opened> {
  return openStores(config, {
    runtime,
    role: 'reader',
    service: undefined,
    signal: undefined,
    connectMaxMs: READER_CONNECT_MS,
  });
}

export type AppendingOptions = {
  readonly runtime: Runtime;
  /** Partitions of topics that are missing; `undefined`: those of Kafka are not made. */
  readonly newTopicPartitions: number | undefined;
};

/** For `append`, also beside a worker that runs. */
export async function openForAppending(config: ConfigValues, options: AppendingOptions): Promise<Appendable> {
  if (config.log.kind === 'kafka') return openKafka(config, options);
  const { newTopicPartitions: partitions = config.embedded.partitions } = options;
  return openEmbedded({ file: config.embedded.file, partitions, role: 'appender' });
}

type OpenOptions = {
  readonly runtime: Runtime;
  readonly role: EmbeddedRole;
  readonly service: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly connectMaxMs: number;
};

async function openStores(config: ConfigValues, options: OpenOptions): Promise<Opened> {
  const { runtime, role } = options;
  await using open = new AsyncDisposableStack();
  const { file: path, partitions } = config.embedded;
  let opened: EmbeddedFile | undefined;
  const file = async (): Promise<EmbeddedFile> =>
    (opened ??= open.use(await openEmbedded({ file: path, partitions, role })));
  const kafka =
    config.log.kind === 'kafka'
      ? open.use(await openKafka(config, { runtime, newTopicPartitions: undefined }))
      : undefined;
  const log = kafka?.log ?? (await file()).log;
  const mongo = config.store.kind === 'mongodb' ? open.use(await openMongodb(config, options)) : undefined;
  const { checkpoints, readModels, ledger } = mongo ?? (await file());
  const kept = open.move();
  return {
    stores: { log, checkpoints, readModels, ledger },
    kafka,
    mongo,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The driver is loaded where it is used: most commands and the embedded default need none. */
async function openKafka({ log }: ConfigValues, options: AppendingOptions): Promise<KafkaLog> {
  const { openKafkaLog } = await import('../adapters/kafka/index.ts');
  const { runtime, newTopicPartitions: partitions } = options;
  const { mechanism, username = '', password } = log.sasl;
  const { enabled, ca, cert, key } = log.tls;
  const ssl = enabled && {
    ...(ca === undefined ? {} : { ca: [await readPem('log.tls.ca', ca)] }),
    ...(cert === undefined ? {} : { cert: await readPem('log.tls.cert', cert) }),
    ...(key === undefined ? {} : { key: await readPem('log.tls.key', key) }),
  };
  return openKafkaLog({
    runtime,
    brokers: log.brokers ?? [],
    clientId: log.clientId,
    ssl,
    ...(mechanism === 'none' ? {} : { sasl: { mechanism, username, password: password?.reveal() ?? '' } }),
    sessionTimeoutMs: log.sessionTimeout,
    rebalanceTimeoutMs: log.rebalanceTimeout,
    connectTimeoutMs: log.connectTimeout,
    requestTimeoutMs: log.requestTimeout,
    inflatedBytesMax: log.inflatedBytes,
    ...(partitions === undefined ? {} : { newTopics: { partitions } }),
  });
}

async function openMongodb({ store }: ConfigValues, options: OpenOptions): Promise<MongoStores> {
  const { openMongo } = await import('../adapters/mongo/index.ts');
  const { runtime, service, signal, connectMaxMs } = options;
  return openMongo({
    runtime,
    service,
    connectMaxMs,
    url: store.url?.reveal() ?? '',
    database: store.database ?? '',
    poolSizeMax: store.poolSize,
    selectionTimeoutMs: store.connectTimeout,
    socketTimeoutMs: store.socketTimeout,
    deadlineMs: store.deadline,
    ...(signal === undefined ? {} : { signal }),
  });
}

async function readPem(setting: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigFileError(setting, path, error);
  }
}

/** Logs go to the error stream: standard output is for data. */
export function composeLogger({ logs }: ConfigValues, terminal: Terminal): Logger {
  const isPretty = logs.format === 'pretty' || (logs.format === 'auto' && terminal.isErrorTty);
  return pinoLogger({
    level: logs.level,
    format: isPretty ? 'pretty' : 'json',
    isColored: terminal.isColored,
    destination: { write: (line) => terminal.writeError(line) },
  });
}

export function composeRuntime(logger: Logger): Runtime {
  return nodeRuntime(logger);
}

/** Names this process in claims. */
export function ownerName(): string {
  return `${hostname()}:${pid}:${uuidIds.next()}`;
}
