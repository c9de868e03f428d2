import kafkajs, { type Admin } from 'kafkajs';
import type { ConnectionSettings } from './cluster/connection-settings.ts';
import { kafkaDriver } from './driver/kafka-driver.ts';
import { toLogError } from './kafka-error.ts';

export type NewTopics = {
  readonly partitions: number;
  /** Copies of each partition; default: what the cluster says. */
  readonly replicas?: number;
};

/** A log of commits keeps them: read models are rebuilt from them, and records are stamped with when commits were made. */
const keepAll = [
  { name: 'cleanup.policy', value: 'delete' },
  { name: 'retention.ms', value: '-1' },
  { name: 'retention.bytes', value: '-1' },
];

/** What decides how long a topic keeps its records, and how it stamps them. */
export type TopicRetention = {
  readonly topic: string;
  /** Records older than this may go; `undefined`: none goes for its age. */
  readonly retentionMs: number | undefined;
  /** Of a partition larger than this the oldest may go; `undefined`: none goes for its size. */
  readonly retentionBytes: number | undefined;
  /** Whether records of one key replace each other: history goes then. */
  readonly isCompacted: boolean;
  readonly isStampedByLog: boolean;
};

/** Questions and orders for the cluster itself, each on a connection of its own. */
export class TopicAdmin {
  readonly #connection: ConnectionSettings;

  constructor(connection: ConnectionSettings) {
    this.#connection = connection;
  }

  /** Makes the topics that are missing, which keep their records for ever. Those that are there stay as they are. */
  ensure(topics: readonly string[], { partitions, replicas }: NewTopics): Promise<void> {
    return this.#with('making topics', async (admin) => {
      const existing = new Set(await admin.listTopics());
      const missing = topics.filter((topic) => !existing.has(topic));
      const size = { numPartitions: partitions, ...(replicas === undefined ? {} : { replicationFactor: replicas }) };
      if (missing.length > 0) {
        await admin.createTopics({
          waitForLeaders: true,
          topics: missing.map((topic) => ({ topic, ...size, configEntries: keepAll })),
        });
      }
    });
  }

  /** Of topics that exist. */
  retention(topics: readonly string[]): Promise<readonly TopicRetention[]> {
    const configNames = ['retention.ms', 'retention.bytes', 'cleanup.policy', 'message.timestamp.type'];
    return this.#with('describing topics', async (admin) => {
      const { resources } = await admin.describeConfigs({
        includeSynonyms: false,
        resources: topics.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name, configNames })),
      });
      return resources.map(({ resourceName, configEntries }): TopicRetention => {
        const values = new Map(configEntries.map(({ configName, configValue }) => [configName, configValue]));
        return {
          topic: resourceName,
          retentionMs: bound(values.get('retention.ms')),
          retentionBytes: bound(values.get('retention.bytes')),
          isCompacted: values.get('cleanup.policy')?.includes('compact') === true,
          isStampedByLog: values.get('message.timestamp.type') === 'LogAppendTime',
        };
      });
    });
  }

  async #with<T>(doing: string, use: (admin: Admin) => Promise<T>): Promise<T> {
    const { kafka, release } = kafkaDriver(this.#connection, 3);
    const admin = kafka.admin();
    try {
      await admin.connect();
      return await use(admin);
    } catch (error) {
      throw toLogError(error, doing);
    } finally {
      await admin.disconnect().catch(() => undefined);
      release();
    }
  }
}

/** Kafka writes -1 for none. */
function bound(value: string | undefined): number | undefined {
  const number = Number(value);
  return value === undefined || Number.isNaN(number) || number < 0 ? undefined : number;
}
