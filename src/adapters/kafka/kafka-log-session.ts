import type { Assignment, LogBatch, LogSession, PullLimits } from '../../log/log-source.ts';
import type { Position, TopicPartition } from '../../log/position.ts';
import { sessionOver } from '../../log/session-over.ts';
import type { FetchClient } from './fetch/fetch-client.ts';
import type { PartitionFeed } from './fetch/partition-feed.ts';
import type { GroupMembership } from './membership/group-membership.ts';

/** A pull that waits learns of an outage after so long, not only at the end of its time. */
const OUTAGE_MS = 1_000;

export type KafkaLogSessionParts = {
  readonly subscription: string;
  readonly topics: readonly string[];
  readonly client: FetchClient;
  /** The membership, which tells what is owned. */
  readonly join: (onAssignment: (assignment: Assignment) => void) => GroupMembership;
  readonly nowMs: () => number;
  readonly onStop: () => void;
};

/**
 * One subscription's membership in a group, and its reading. Once it has joined, only partitions that it owns are read,
 * and none while the group was not heard of for too long: then a pull gives nothing.
 */
export class KafkaLogSession implements LogSession {
  readonly #parts: KafkaLogSessionParts;
  readonly #pending: Assignment[] = [];
  readonly #stopping = new AbortController();
  #membership: GroupMembership | undefined;
  #wakeAssignments: (() => void) | undefined;
  #stopped: Promise<void> | undefined;

  constructor(parts: KafkaLogSessionParts) {
    this.#parts = parts;
  }

  async *assignments(signal: AbortSignal): AsyncGenerator<Assignment, void, undefined> {
    const ended = AbortSignal.any([signal, this.#stopping.signal]);
    while (!ended.aborted) {
      this.#join();
      const next = this.#pending.shift();
      if (next === undefined) await this.#nextAssignment(ended);
      else yield next;
    }
  }

  async pull(from: Position, limits: PullLimits, signal: AbortSignal): Promise<LogBatch> {
    const { client, nowMs, subscription } = this.#parts;
    if (this.#stopping.signal.aborted && !signal.aborted) throw sessionOver(subscription);
    const feed = client.feed(from);
    feed.seek(from.offset);
    const startedAtMs = nowMs();
    const deadlineMs = startedAtMs + limits.waitMs;
    const mark = feed.mark;
    if (limits.waitMs <= 0) feed.forgetProblem();
    try {
      while (!this.#isOver(signal)) {
        const leftMs = deadlineMs - nowMs();
        const outageMs = Math.min(feed.problemAgeMs, nowMs() - startedAtMs);
        if (this.#mayRead(from)) {
          const batch = feed.take(limits);
          if (batch !== undefined) return batch;
          if (isAtEnd(feed, { leftMs, outageMs, mark, waitMs: limits.waitMs })) break;
          feed.want(limits.waitMs > 0 ? 'wait' : 'now');
          client.schedule();
        } else if (leftMs <= 0) break;
        await feed.changed(untilLook({ leftMs, outageMs: feed.problem && outageMs }), signal);
      }
      return feed.emptyAt(from);
    } finally {
      feed.want('none');
      // What is read ahead of the reader.
      if (feed.hasDemand) client.schedule();
    }
  }

  /** Keeps a position for lag tools. */
  mirror(position: Position): void {
    this.#membership?.note(position);
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    this.#wakeAssignments?.();
    // Pulls end first, then their connections; leaving the group takes its time.
    this.#parts.client.close();
    await this.#membership?.stop();
    this.#parts.onStop();
  }

  #join(): void {
    if (this.#membership !== undefined) return;
    this.#membership = this.#parts.join((assignment) => this.#note(assignment));
    this.#membership.start();
  }

  #note(assignment: Assignment): void {
    const { client, topics } = this.#parts;
    for (const partition of assignment.lost) client.forget(partition);
    // The log that is assigned is the one that is read, not another of that name.
    for (const topic of topics) client.bind(topic);
    this.#pending.push(assignment);
    client.wakeAll();
    this.#wakeAssignments?.();
  }

  #nextAssignment(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal.removeEventListener('abort', wake);
        this.#wakeAssignments = undefined;
        resolve();
      };
      this.#wakeAssignments = wake;
      signal.addEventListener('abort', wake);
    });
  }

  #mayRead(partition: TopicPartition): boolean {
    return this.#membership === undefined || this.#membership.owns(partition);
  }

  #isOver(signal: AbortSignal): boolean {
    return signal.aborted || this.#stopping.signal.aborted;
  }
}

type Wait = {
  readonly leftMs: number;
  /** How long the log could not be asked, in this pull. */
  readonly outageMs: number;
  readonly mark: number;
  readonly waitMs: number;
};

/** Whether a pull without records is over. Throws `UnavailableError` where the log could not be asked. */
function isAtEnd(feed: PartitionFeed, { leftMs, outageMs, mark, waitMs }: Wait): boolean {
  if (feed.problem !== undefined && (leftMs <= 0 || outageMs >= OUTAGE_MS)) throw feed.problem;
  if (leftMs > 0) return false;
  // Nothing is only said by who was asked.
  return waitMs > 0 ? feed.bounds !== undefined : feed.isAnsweredSince(mark);
}

/** When to look again although nothing changed. */
function untilLook({ leftMs, outageMs }: { readonly leftMs: number; readonly outageMs: number | undefined }): number {
  const untilOutageMs = outageMs === undefined ? Number.POSITIVE_INFINITY : OUTAGE_MS - outageMs;
  return Math.min(leftMs > 0 ? leftMs : Number.POSITIVE_INFINITY, Math.max(1, untilOutageMs));
}
