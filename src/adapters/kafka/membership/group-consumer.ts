import type { Consumer } from 'kafkajs';
import type { Position, TopicPartition } from '../../../log/position.ts';
import { messageOf } from '../../../runtime/errors.ts';
import { within } from '../../../runtime/within.ts';
import { type KafkaDriver, kafkaDriver } from '../driver/kafka-driver.ts';
import type { GroupMember } from './group-settings.ts';
import { topicListAssigner } from './topic-list-assigner.ts';

/** kafkajs rounds its heartbeats up to a multiple of this. */
const IDLE_MS = 500;

export type GroupConsumerParts = GroupMember & {
  readonly onJoin: (memberId: string, given: readonly TopicPartition[], sentAtMs: number) => void;
  readonly onBeat: (memberId: string, sentAtMs: number) => void;
};

/**
 * One life of a consumer of kafkajs, which is there for its membership alone: every partition is paused for ever, and
 * nothing of ours runs in its callbacks. It begins with `run` and ends when it fails; a new one takes its place then.
 */
export class GroupConsumer {
  readonly #parts: GroupConsumerParts;
  readonly #driver: KafkaDriver;
  readonly #consumer: Consumer;
  readonly #crashed = Promise.withResolvers<unknown>();
  readonly #settled = Promise.withResolvers<void>();
  #isMember = false;
  #isOver = false;
  #hasConnected = false;
  #closing: Promise<void> | undefined;

  constructor(parts: GroupConsumerParts) {
    const { groupId, connection, group } = parts;
    this.#parts = parts;
    this.#driver = kafkaDriver(connection);
    this.#consumer = this.#driver.kafka.consumer({
      groupId,
      sessionTimeout: group.sessionTimeoutMs,
      heartbeatInterval: group.heartbeatIntervalMs,
      rebalanceTimeout: group.rebalanceTimeoutMs,
      metadataMaxAge: group.metadataMaxAgeMs,
      maxWaitTimeInMs: Math.min(IDLE_MS, group.heartbeatIntervalMs),
      allowAutoTopicCreation: false,
      partitionAssigners: [topicListAssigner],
      // A consumer that crashed is replaced, which is the same after every crash.
      retry: { initialRetryTime: 300, maxRetryTime: 2_000, retries: 100_000, restartOnFailure: async () => false },
    });
    this.#listen();
  }

  /** Joins, and resolves with the error once the membership has failed. */
  async run(): Promise<unknown> {
    const { topics } = this.#parts;
    try {
      await this.#consumer.connect();
      this.#hasConnected = true;
      if (this.#closing !== undefined) throw new Error('The consumer was closed.');
      await this.#consumer.subscribe({ topics: [...topics], fromBeginning: true });
      await this.#consumer.run({ autoCommit: false, eachBatch: async () => undefined });
    } catch (error) {
      this.#end(error);
    }
    const error = await this.#crashed.promise;
    this.#isMember = false;
    this.#settled.resolve();
    return error;
  }

  /** Tells the group where this member stands. Best effort: never rejects. */
  async commit(positions: readonly Position[]): Promise<void> {
    if (!this.#isMember || positions.length === 0) return;
    try {
      await this.#consumer.commitOffsets(positions.map(({ offset, ...at }) => ({ ...at, offset: String(offset) })));
    } catch (error) {
      const { logger } = this.#parts;
      logger.debug('Positions could not be told to the group.', { reason: messageOf(error) });
    }
  }

  /** Ends this life from outside. */
  abandon(error: unknown): void {
    this.#end(error);
  }

  /** What kafkajs still says afterwards is of no interest. */
  #end(error: unknown): void {
    this.#isOver = true;
    this.#crashed.resolve(error);
  }

  /** Leaves the group, within the bound. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { connection, group } = this.#parts;
    const { clock } = connection.runtime;
    const deadlineMs = clock.monotonicMs() + group.leaveMaxMs;
    // kafkajs tries to connect for ever.
    if (!this.#hasConnected) this.#driver.release();
    // It leaves a member behind that nobody stops if it is disconnected on its way into the group.
    else await within(group.leaveMaxMs, this.#settled.promise, clock);
    // Whatever comes of it: there is nobody to tell.
    const leaving = this.#consumer.disconnect().catch(() => undefined);
    await within(Math.max(0, deadlineMs - clock.monotonicMs()), leaving, clock);
    this.#driver.release();
    this.#end(new Error('The consumer was closed.'));
  }

  #listen(): void {
    const { connection, topics, onJoin, onBeat } = this.#parts;
    const { events } = this.#consumer;
    const nowMs = (): number => connection.runtime.clock.monotonicMs();
    // The answer says nothing of the time that it took; what counts is when it was asked.
    let beatSentAtMs = 0;
    let joinSentAtMs = 0;
    this.#consumer.on(events.REQUEST, ({ payload: { apiName, duration } }) => {
      // By the wall clock, which may have been set back meanwhile.
      const sentAtMs = nowMs() - Math.max(0, duration);
      if (apiName === 'Heartbeat') beatSentAtMs = sentAtMs;
      if (apiName === 'SyncGroup') joinSentAtMs = sentAtMs;
    });
    this.#consumer.on(events.HEARTBEAT, ({ payload: { memberId } }) =>
      this.#guard(() => onBeat(memberId, beatSentAtMs)),
    );
    this.#consumer.on(events.GROUP_JOIN, ({ payload: { memberId, memberAssignment } }) => {
      this.#guard(() => {
        this.#consumer.pause(topics.map((topic) => ({ topic })));
        this.#isMember = true;
        this.#settled.resolve();
        const given = Object.entries(memberAssignment).flatMap(([topic, partitions]) =>
          partitions.map((partition) => ({ topic, partition })),
        );
        onJoin(memberId, given, joinSentAtMs);
      });
    });
    this.#consumer.on(events.CRASH, ({ payload: { error } }) => this.#end(error));
  }

  /** What is thrown in a listener would end the consumer without a word. */
  #guard(react: () => void): void {
    if (this.#isOver) return;
    try {
      react();
    } catch (error) {
      this.#end(error);
    }
  }
}
