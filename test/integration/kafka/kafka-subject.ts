import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { BrokerLink } from '../../../src/adapters/kafka/cluster/broker-link.ts';
import { ClusterView } from '../../../src/adapters/kafka/cluster/cluster-view.ts';
import { type KafkaLog, type KafkaLogOptions, openKafkaLog } from '../../../src/adapters/kafka/index.ts';
import { connectionOf } from '../../../src/adapters/kafka/open-kafka.ts';
import { nodeRuntime } from '../../../src/adapters/node/node-runtime.ts';
import type { TopicPartition } from '../../../src/log/position.ts';
import type { RecordText } from '../../../src/log/record.ts';
import { silentLogger } from '../../../src/runtime/logger.ts';
import type { AppendedRecord } from '../../contracts/log-source.contract.ts';
import { type BatchShape, recordBatch } from '../../unit/adapters/kafka/batches/record-batches.ts';
import { produceRequest } from './produce-request.ts';

/** A cluster under test: what tests do to it, and logs of the adapter on it. */
export class KafkaSubject implements AsyncDisposable {
  readonly brokers: readonly string[];
  readonly kafka: Kafka;
  readonly admin: Admin;
  readonly #opened: KafkaLog[] = [];
  readonly #view: ClusterView;
  readonly #options: KafkaLogOptions;
  readonly #links = new Map<number, BrokerLink>();

  private constructor(brokers: readonly string[]) {
    this.brokers = brokers;
    this.kafka = new Kafka({ clientId: 'test', brokers: [...brokers], logLevel: logLevel.NOTHING });
    this.admin = this.kafka.admin();
    this.#options = { brokers, clientId: 'test', runtime: nodeRuntime(silentLogger) };
    this.#view = new ClusterView(connectionOf(this.#options));
  }

  static async connect(brokers: readonly string[]): Promise<KafkaSubject> {
    const subject = new KafkaSubject(brokers);
    await subject.admin.connect();
    return subject;
  }

  /** A name that no other test uses. */
  topicName(): string {
    return `test.${randomUUID()}`;
  }

  /** A log of its own, whose groups join fast and notice changes fast. */
  open(options: Partial<KafkaLogOptions> = {}): KafkaLog {
    const quick = { sessionTimeoutMs: 6_000, heartbeatIntervalMs: 300, metadataMaxAgeMs: 500, mirrorIntervalMs: 300 };
    const log = openKafkaLog({ ...this.#options, clientId: `test-${randomUUID()}`, ...quick, ...options });
    this.#opened.push(log);
    return log;
  }

  async createTopic(
    topic: string,
    partitions = 1,
    more: { readonly replicaAssignment?: readonly number[] } = {},
  ): Promise<void> {
    const { replicaAssignment } = more;
    const placed = replicaAssignment?.map((node, partition) => ({ partition, replicas: [node] }));
    // Tests stamp records with instants long gone.
    const configEntries = [
      { name: 'retention.ms', value: '-1' },
      { name: 'max.message.bytes', value: '10000000' },
    ];
    const kept = { topic, configEntries };
    await this.admin.createTopics({
      waitForLeaders: true,
      topics: [placed === undefined ? { ...kept, numPartitions: partitions } : { ...kept, replicaAssignment: placed }],
    });
  }

  /** Deletes a topic and waits until it is gone. */
  async deleteTopic(topic: string): Promise<void> {
    await this.admin.deleteTopics({ topics: [topic] });
    for (let tries = 0; tries < 200 && (await this.#view.freshTopic(topic)).kind !== 'missing'; tries += 1)
      await sleep(10);
  }

  /** Moves the log's beginning. */
  async deleteRecords(topic: string, partition: number, offset: number): Promise<void> {
    const partitions = [{ partition, offset: String(offset) }];
    // kafkajs does not know the leader the first time.
    await this.admin
      .deleteTopicRecords({ topic, partitions })
      .catch(() => this.admin.deleteTopicRecords({ topic, partitions }));
  }

  /** Puts a member out of its group, as the group itself does after a silence. */
  async evict(groupId: string, memberId: string): Promise<void> {
    // The coordinator, where there is one broker.
    const [host = '', port = ''] = (this.brokers[0] ?? '').split(':');
    const link = new BrokerLink({ host, port: Number(port) }, connectionOf(this.#options));
    await link.request({
      apiKey: 13,
      apiVersion: 4,
      apiName: 'LeaveGroup',
      write: (to) => {
        to.compactString(groupId);
        to.compactArray([memberId], (id) => to.compactString(id).compactString(undefined).tags());
        to.tags();
      },
      read: () => undefined,
    });
    link.close();
  }

  async append(partition: TopicPartition, records: readonly AppendedRecord[], shape: BatchShape = {}): Promise<void> {
    const first = records[0]?.timestamp ?? 0;
    const maxTimestamp = Math.max(...records.map(({ timestamp = 0 }) => timestamp));
    const batch = recordBatch(
      records.map(({ key, value, timestamp = 0, headers = [] }) => ({
        timestampDelta: timestamp - first,
        key: bytesOf(key),
        value: bytesOf(value),
        headers: headers.map(([name, text]) => [name, bytesOf(text)] as const),
      })),
      { timestamp: first, maxTimestamp, ...shape },
    );
    await this.produce(partition, batch);
  }

  /** Appends a record batch as it is, trying for a while where the partition is not ready. */
  async produce({ topic, partition }: TopicPartition, batch: Buffer): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const view = await this.#view.freshTopic(topic);
      const leader = view.kind === 'there' ? view.leaders.get(partition) : undefined;
      const address = leader === undefined ? undefined : this.#view.address(leader);
      if (leader !== undefined && address !== undefined) {
        const link = this.#links.get(leader) ?? new BrokerLink(address, connectionOf(this.#options));
        this.#links.set(leader, link);
        const errorCode = await link.request(produceRequest({ topic, partition, batch })).catch(() => -1);
        if (errorCode === 0) return;
        // What is refused for good: too large, malformed.
        if (tries > 100 || errorCode === 10 || errorCode === 2 || errorCode === 87)
          throw new Error(`Producing failed with error ${errorCode}.`);
      } else if (tries > 100) throw new Error(`${topic}/${partition} has no leader.`);
      await sleep(50);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#opened.map((log) => log.close()));
    for (const link of this.#links.values()) link.close();
    this.#view.close();
    await this.admin.disconnect();
  }
}

function bytesOf(text: RecordText): Buffer | undefined {
  return text === undefined ? undefined : Buffer.from(text);
}
