import { logLevel, type SASLOptions } from 'kafkajs';
import type { AppendOptions, AppendResult } from '../../log/append/append-options.ts';
import type { CommitCodec } from '../../log/commit-codec.ts';
import { jsonCommitCodec } from '../../log/json-commit-codec.ts';
import type { LogSource } from '../../log/log-source.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { KafkaAppender } from './append/kafka-appender.ts';
import { inflater } from './batches/codecs.ts';
import { ClusterView } from './cluster/cluster-view.ts';
import type { ConnectionSettings } from './cluster/connection-settings.ts';
import { PartitionLeaders } from './cluster/partition-leaders.ts';
import { driverLog } from './driver/driver-log.ts';
import { kafkajsInternals } from './driver/kafkajs-internals.ts';
import { KafkaLogSource } from './kafka-log-source.ts';
import type { GroupSettings } from './membership/group-settings.ts';
import { type NewTopics, TopicAdmin, type TopicRetention } from './topic-admin.ts';

export type KafkaLogOptions = Partial<GroupSettings> & {
  /** `host:port` of some brokers; the others are learnt from them. */
  readonly brokers: readonly string[];
  /** Names this application to the brokers, and is the first part of its group names. */
  readonly clientId: string;
  /** `true`: TLS by what the machine trusts; else what `tls.connect` takes. Default: no TLS. */
  readonly ssl?: boolean | object;
  /** PLAIN or SCRAM. */
  readonly sasl?: SASLOptions;
  /** How long making a connection may take, milliseconds; default 10 s. */
  readonly connectTimeoutMs?: number;
  /** A broker that says nothing for so long is taken for dead; default 5 s. */
  readonly requestTimeoutMs?: number;
  /** What one record batch may become when it is decompressed; default 256 MiB. */
  readonly inflatedBytesMax?: number;
  /** Decides what a commit is when lines are appended; default: JSON with plain numbers. */
  readonly codec?: CommitCodec;
  /** How a topic is made that is missing when a line is appended to it; default: it is not, and the append is refused. */
  readonly newTopics?: NewTopics;
  readonly runtime: Pick<Runtime, 'clock' | 'random' | 'logger'>;
};

/** A log on Kafka that is open. */
export interface KafkaLog extends AsyncDisposable {
  readonly log: LogSource;
  /**
   * Appends lines, each a commit record or an envelope around one, acknowledged by all replicas. The key, an aggregate's id
   * where a line names none, decides the partition as in every producer of Kafka; the stamp is the commit's `createTime`.
   * Of up to 10,000 lines (and 256 MiB) nothing is stored if one is bad. What is in the log already is not looked at:
   * lines that are appended twice are stored twice, and handled once. Headers of one name stand together. Throws
   * `AppendError` (`BAD_RECORD`) with the line and the last line that is stored, `TOPIC_MISSING`, `UNAVAILABLE`,
   * `LOG_REFUSED`.
   */
  append(lines: AsyncIterable<string> | Iterable<string>, options?: AppendOptions): Promise<AppendResult>;
  /** Makes the topics that are missing; they keep their records for ever. Throws `UNAVAILABLE`, `LOG_REFUSED`. */
  ensureTopics(topics: readonly string[], options: NewTopics): Promise<void>;
  /** How long topics that exist keep their records. Throws `UNAVAILABLE`, `LOG_REFUSED`. */
  retention(topics: readonly string[]): Promise<readonly TopicRetention[]>;
  /** Throws `LOG_REFUSED` where the user may not be a member of the subscription's group, `UNAVAILABLE`. */
  assertMayJoin(subscription: string): Promise<void>;
  /** Stops what is open and breaks all connections. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens the log on a Kafka cluster (3.1 or newer). No I/O before it is first asked for something. Its errors:
 * `UNAVAILABLE`, `LOG_REFUSED` (credentials, rights), `LOG_UNSUPPORTED`, and while reading `OFFSET_OUT_OF_RANGE`,
 * `LOG_CHANGED`, `LOG_DAMAGED`, `CODEC_MISSING`, `INFLATED_TOO_LARGE`.
 */
export function openKafkaLog(options: KafkaLogOptions): KafkaLog {
  const connection = connectionOf(options);
  const view = new ClusterView(connection);
  const leaders = new PartitionLeaders(view, connection);
  const log = new KafkaLogSource({
    view,
    leaders,
    connection,
    group: groupOf(options),
    inflate: inflater(options.inflatedBytesMax ?? 256 * 1024 * 1024),
    logger: options.runtime.logger,
  });
  const admin = new TopicAdmin(connection);
  const { newTopics, codec = jsonCommitCodec() } = options;
  const makeTopic = newTopics && ((topic: string) => admin.ensure([topic], newTopics));
  const appender = new KafkaAppender({ view, connection, codec, makeTopic });
  const close = async (): Promise<void> => {
    await Promise.all([log.close(), appender.close()]);
    leaders.close();
    view.close();
  };
  return {
    log,
    append: (lines, appendOptions) => appender.append(lines, appendOptions),
    ensureTopics: (topics, how) => admin.ensure(topics, how),
    retention: (topics) => admin.retention(topics),
    assertMayJoin: (subscription) => log.assertMayJoin(subscription),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** How the connections of such a log are made. */
export function connectionOf(options: KafkaLogOptions): ConnectionSettings {
  const { brokers, clientId, ssl, sasl, connectTimeoutMs = 10_000, requestTimeoutMs = 5_000, runtime } = options;
  const { logger } = runtime;
  const innerLogger = kafkajsInternals().createLogger({ level: logLevel.WARN, logCreator: driverLog(logger) });
  return { brokers, clientId, ssl, sasl, connectTimeoutMs, requestTimeoutMs, runtime, logger, innerLogger };
}

function groupOf(options: KafkaLogOptions): GroupSettings {
  return {
    sessionTimeoutMs: options.sessionTimeoutMs ?? 30_000,
    heartbeatIntervalMs: options.heartbeatIntervalMs ?? 1_000,
    rebalanceTimeoutMs: options.rebalanceTimeoutMs ?? 60_000,
    metadataMaxAgeMs: options.metadataMaxAgeMs ?? 30_000,
    mirrorIntervalMs: options.mirrorIntervalMs ?? 5_000,
    leaveMaxMs: options.leaveMaxMs ?? 10_000,
  };
}
