import type { Assignment } from '../../../log/log-source.ts';
import { type Position, partitionKey, type TopicPartition } from '../../../log/position.ts';
import { isAborted } from '../../../runtime/aborted.ts';
import { backoffMs } from '../../../runtime/backoff.ts';
import { type TidemarkError, UnavailableError } from '../../../runtime/errors.ts';
import { TaskGroup } from '../../../runtime/task-group.ts';
import { LogRefusedError, toLogError } from '../kafka-error.ts';
import { GroupConsumer } from './group-consumer.ts';
import type { GroupMember } from './group-settings.ts';
import { Ownership } from './ownership.ts';

/** Of the session timeout: a member that was silent for so long stops by itself, before another one may start. */
const SILENCE_SHARE = 0.8;
/** Between lives of a consumer: from the half second, doubling, to 10 s; where rights are missing, 30 s. */
const RESTART_INITIAL_MS = 500;
const RESTART_MAX_MS = 10_000;
const REFUSED_PAUSE_MS = 30_000;

export type GroupMembershipParts = GroupMember & {
  /** Why Kafka refuses this process the group; kafkajs only says that it found no coordinator. */
  readonly refusal: () => Promise<TidemarkError | undefined>;
  /** Told each change of what is owned, the first one being what is owned at first, if only nothing. */
  readonly onAssignment: (assignment: Assignment) => void;
};

/** A place in a consumer group, kept up until it is stopped: a consumer that fails is replaced. */
export class GroupMembership {
  readonly #parts: GroupMembershipParts;
  readonly #ownership: Ownership;
  readonly #tasks: TaskGroup;
  readonly #positions = new Map<string, Position>();
  #consumer: GroupConsumer | undefined;

  constructor(parts: GroupMembershipParts) {
    this.#parts = parts;
    this.#ownership = new Ownership(parts.group.sessionTimeoutMs * SILENCE_SHARE);
    this.#tasks = new TaskGroup(parts.logger);
  }

  start(): void {
    this.#tasks.run('membership', (signal) => this.#keepUp(signal));
    this.#tasks.run('heartbeat watch', (signal) => this.#watchSilence(signal));
    this.#tasks.run('position mirror', (signal) => this.#mirror(signal));
  }

  /** Whether the partition is this member's now, as far as the group was heard of lately. */
  owns(partition: TopicPartition): boolean {
    return this.#ownership.owns(partition, this.#nowMs());
  }

  /** Keeps a position for the next time that positions are told. */
  note(position: Position): void {
    this.#positions.set(partitionKey(position), position);
  }

  /** Tells positions a last time and leaves. Bounded. */
  async stop(): Promise<void> {
    await this.#tell();
    this.#tasks.abort();
    await this.#consumer?.close();
    await this.#tasks.settled();
  }

  async #keepUp(signal: AbortSignal): Promise<void> {
    const { connection, logger } = this.#parts;
    const { clock, random } = connection.runtime;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      const life = await this.#live();
      this.#emit(this.#ownership.leave());
      if (isAborted(signal)) return;
      const problem = await this.#problemOf(life.error);
      if (life.hasJoined) attempt = 1;
      const isRefused = problem instanceof LogRefusedError;
      const fields = { groupId: this.#parts.groupId, reason: problem.message, code: problem.code };
      if (isRefused) logger.error('Kafka refuses this process as a member of the group; trying again.', fields);
      else logger.warn('The membership in the group was lost; joining again.', fields);
      const delay = { initialMs: RESTART_INITIAL_MS, maxMs: RESTART_MAX_MS, attempt };
      await clock.sleep(isRefused ? REFUSED_PAUSE_MS : backoffMs(delay, random), signal);
    }
  }

  async #problemOf(error: unknown): Promise<TidemarkError> {
    try {
      return (await this.#parts.refusal()) ?? toLogError(error, 'a consumer group');
    } catch {
      return toLogError(error, 'a consumer group');
    }
  }

  /** One consumer, from its joining to its failure. */
  async #live(): Promise<{ readonly error: unknown; readonly hasJoined: boolean }> {
    let hasJoined = false;
    const consumer = new GroupConsumer({
      ...this.#parts,
      onJoin: (memberId, given, sentAtMs) => {
        const assignment = this.#ownership.join(memberId, given, sentAtMs);
        const isChange = assignment.assigned.length + assignment.lost.length > 0;
        if (isChange || !hasJoined) this.#parts.onAssignment(assignment);
        hasJoined = true;
      },
      onBeat: (memberId, sentAtMs) => this.#emit(this.#ownership.beat(memberId, sentAtMs)),
    });
    this.#consumer = consumer;
    const error = await consumer.run();
    await consumer.close();
    return { error, hasJoined };
  }

  /** What is owned is lost once the group was not heard of for too long, although nobody says so. */
  async #watchSilence(signal: AbortSignal): Promise<void> {
    const { connection, group, logger } = this.#parts;
    while (!signal.aborted) {
      const silentAtMs = this.#ownership.silentAtMs ?? this.#nowMs() + group.heartbeatIntervalMs;
      await connection.runtime.clock.sleep(Math.max(1, silentAtMs - this.#nowMs()), signal);
      if (isAborted(signal)) return;
      const assignment = this.#ownership.tick(this.#nowMs());
      if (assignment === undefined) continue;
      logger.warn('The group was silent for too long; what was owned is given up.', {
        partitions: assignment.lost.length,
      });
      this.#emit(assignment);
      await this.#replaceIfSilent(signal);
    }
  }

  /** A consumer that stays silent may wait for something that never comes: kafkajs counts its heartbeats by the wall clock. */
  async #replaceIfSilent(signal: AbortSignal): Promise<void> {
    const { connection, group } = this.#parts;
    const consumer = this.#consumer;
    await connection.runtime.clock.sleep(group.sessionTimeoutMs, signal);
    if (isAborted(signal) || !this.#ownership.isSilent) return;
    consumer?.abandon(new UnavailableError('The group was silent for longer than a session may be.'));
  }

  async #mirror(signal: AbortSignal): Promise<void> {
    const { connection, group } = this.#parts;
    while (!signal.aborted) {
      await connection.runtime.clock.sleep(group.mirrorIntervalMs, signal);
      if (!isAborted(signal)) await this.#tell();
    }
  }

  /** Brokers take positions for partitions that the member does not own: these are left out here. */
  async #tell(): Promise<void> {
    const positions = [...this.#positions.values()].filter((position) => this.owns(position));
    this.#positions.clear();
    await this.#consumer?.commit(positions);
  }

  #emit(assignment: Assignment | undefined): void {
    if (assignment !== undefined) this.#parts.onAssignment(assignment);
  }

  #nowMs(): number {
    return this.#parts.connection.runtime.clock.monotonicMs();
  }
}
