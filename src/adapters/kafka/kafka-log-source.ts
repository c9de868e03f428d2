import type { LogSession, LogSource, TopicDescription } from '../../log/log-source.ts';
import type { Position } from '../../log/position.ts';
import type { LogRecord } from '../../log/record.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Inflate } from './batches/codecs.ts';
import { RecordCursor } from './batches/record-cursor.ts';
import type { ClusterView, TopicView } from './cluster/cluster-view.ts';
import type { ConnectionSettings } from './cluster/connection-settings.ts';
import type { PartitionLeaders } from './cluster/partition-leaders.ts';
import { FetchClient } from './fetch/fetch-client.ts';
import { KafkaCode } from './kafka-error.ts';
import { KafkaLogSession } from './kafka-log-session.ts';
import { GroupMembership } from './membership/group-membership.ts';
import type { GroupSettings } from './membership/group-settings.ts';
import { LATEST } from './wire/list-offsets-request.ts';

export type KafkaLogParts = {
  readonly view: ClusterView;
  readonly leaders: PartitionLeaders;
  readonly connection: ConnectionSettings;
  readonly group: GroupSettings;
  readonly inflate: Inflate;
  readonly logger: Logger;
};

/**
 * The log on Kafka. A subscription's group `<clientId>.<subscription>` tells who owns which partitions; records are
 * fetched from the partitions' leaders directly, as they are asked for, committed ones only. Positions are the caller's
 * checkpoints, never the group's.
 */
export class KafkaLogSource implements LogSource {
  readonly #parts: KafkaLogParts;
  readonly #sessions = new Map<KafkaLogSession, string>();

  constructor(parts: KafkaLogParts) {
    this.#parts = parts;
  }

  /** The identity is the cluster's and the topic's own id: a topic that is made anew under its name has another one. */
  async describe(topic: string, partitions?: readonly number[]): Promise<TopicDescription> {
    const { view, leaders } = this.#parts;
    const found = await view.freshTopic(topic);
    if (found.kind === 'missing') return { topic, identity: '', partitions: [] };
    const numbers = [...found.leaders.keys()].filter((number) => partitions?.includes(number) ?? true);
    const bounds = await leaders.bounds(topic, numbers);
    return {
      topic,
      identity: `kafka:${view.clusterId}:${found.id}`,
      partitions: bounds,
    };
  }

  async offsetsAt(topic: string, instantMs: number): Promise<ReadonlyMap<number, number>> {
    const { view, leaders } = this.#parts;
    const found = await view.freshTopic(topic);
    if (found.kind === 'missing') return new Map();
    const numbers = [...found.leaders.keys()];
    // Negative instants have meanings of their own.
    const offsets = await leaders.offsets(topic, numbers, Math.max(0, Math.floor(instantMs)));
    const ends = await leaders.offsets(topic, numbers, LATEST);
    return new Map(
      numbers.map((partition) => {
        const offset = offsets.get(partition) ?? -1;
        return [partition, offset < 0 ? (ends.get(partition) ?? 0) : offset];
      }),
    );
  }

  open(subscription: string, topics: readonly string[]): LogSession {
    const { view, leaders, connection, group, inflate } = this.#parts;
    const followed = [...new Set(topics)];
    const logger = this.#parts.logger.child({ subscription });
    const groupId = this.#groupOf(subscription);
    const session: KafkaLogSession = new KafkaLogSession({
      subscription,
      topics: followed,
      client: new FetchClient({ view, leaders, settings: connection, inflate }),
      nowMs: () => connection.runtime.clock.monotonicMs(),
      onStop: () => this.#sessions.delete(session),
      join: (onAssignment) =>
        new GroupMembership({
          groupId,
          refusal: () => view.groupRefusal(groupId),
          topics: followed,
          connection,
          group,
          logger,
          onAssignment,
        }),
    });
    this.#sessions.set(session, subscription);
    return session;
  }

  /** Throws `LOG_REFUSED` where the user may not be a member of the subscription's group. */
  async assertMayJoin(subscription: string): Promise<void> {
    const refusal = await this.#parts.view.groupRefusal(this.#groupOf(subscription));
    if (refusal !== undefined) throw refusal;
  }

  #groupOf(subscription: string): string {
    return `${this.#parts.connection.clientId}.${subscription}`;
  }

  async readAt(position: Position): Promise<LogRecord | undefined> {
    const { view, leaders, inflate } = this.#parts;
    const { topic, partition, offset } = position;
    if (offset < 0) return undefined;
    const known = view.topic(topic);
    const found = hasPartition(known, partition) ? known : await view.freshTopic(topic);
    if (!hasPartition(found, partition)) return undefined;
    const { errorCode, records, aborted } = await leaders.fetchAt({ topic, partition }, offset);
    if (errorCode !== KafkaCode.none) return undefined;
    const cursor = new RecordCursor({
      partition: { topic, partition },
      batches: records,
      aborted,
      from: offset,
      inflate,
    });
    const [record] = cursor.take({ records: 1, bytes: 1 });
    return record?.offset === offset ? record : undefined;
  }

  mirror(subscription: string, position: Position): void {
    for (const [session, name] of this.#sessions) if (name === subscription) session.mirror(position);
  }

  /** Stops the sessions that are still open. */
  async close(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((session) => session.stop()));
  }
}

function hasPartition(view: TopicView | undefined, partition: number): view is Extract<TopicView, { kind: 'there' }> {
  return view?.kind === 'there' && view.leaders.has(partition);
}
