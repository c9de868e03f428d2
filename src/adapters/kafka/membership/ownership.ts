import type { Assignment } from '../../../log/log-source.ts';
import { partitionKey, type TopicPartition } from '../../../log/position.ts';

/**
 * What a member of a group owns, by what the group said last. All times are monotonic milliseconds.
 *
 * | state | event | becomes |
 * | --- | --- | --- |
 * | any | joined, same member | member: what is missing now is lost, what is new is assigned |
 * | any | joined, another member id | member: all is lost, then what it got is assigned |
 * | member | no good heartbeat for too long | silent: all is lost |
 * | silent | a heartbeat is answered well | member: nobody else can have owned it since; assigned anew |
 * | any | left, crashed | nobody: all is lost |
 */
export class Ownership {
  readonly #silenceMaxMs: number;
  #memberId: string | undefined;
  /** What the group gave to this member. */
  #given: readonly TopicPartition[] = [];
  /** Of these, what was assigned and not lost. */
  #owned = new Map<string, TopicPartition>();
  #lastBeatMs = 0;
  #isSilent = false;

  /** A member that was not heard of for `silenceMaxMs` may have been replaced: it owns nothing. */
  constructor(silenceMaxMs: number) {
    this.#silenceMaxMs = silenceMaxMs;
  }

  /** When the member becomes silent unless it is heard of before; `undefined`: it is none, or silent already. */
  get silentAtMs(): number | undefined {
    return this.#memberId === undefined || this.#isSilent ? undefined : this.#lastBeatMs + this.#silenceMaxMs;
  }

  /** Whether this is a member that was not heard of for too long, and gave up what it owned. */
  get isSilent(): boolean {
    return this.#isSilent;
  }

  owns(partition: TopicPartition, nowMs: number): boolean {
    return this.#isHeard(nowMs) && this.#owned.has(partitionKey(partition));
  }

  /** The group answered a join that was sent at `sentAtMs`. */
  join(memberId: string, given: readonly TopicPartition[], sentAtMs: number): Assignment {
    // The same partitions under another id: somebody else may have owned them in between.
    const lost = this.#memberId === memberId && !this.#isSilent ? [] : this.#loseAll();
    this.#memberId = memberId;
    this.#given = given;
    this.#lastBeatMs = sentAtMs;
    this.#isSilent = false;
    const keys = new Set(given.map(partitionKey));
    const gone = [...this.#owned.values()].filter((partition) => !keys.has(partitionKey(partition)));
    for (const partition of gone) this.#owned.delete(partitionKey(partition));
    return { lost: [...lost, ...gone], assigned: this.#assign() };
  }

  /** A heartbeat that was sent at `sentAtMs` was answered well. `undefined`: nothing changes. */
  beat(memberId: string, sentAtMs: number): Assignment | undefined {
    if (memberId !== this.#memberId) return undefined;
    // A pause that nobody noticed yet: what was held in between is not to be trusted.
    const lost = this.#isHeard(sentAtMs) ? [] : this.#loseAll();
    this.#lastBeatMs = Math.max(this.#lastBeatMs, sentAtMs);
    this.#isSilent = false;
    const assigned = this.#assign();
    return lost.length + assigned.length === 0 ? undefined : { lost, assigned };
  }

  /** Time has passed. `undefined`: nothing changes. */
  tick(nowMs: number): Assignment | undefined {
    if (this.#memberId === undefined || this.#isSilent || this.#isHeard(nowMs)) return undefined;
    this.#isSilent = true;
    const lost = this.#loseAll();
    return lost.length === 0 ? undefined : { lost, assigned: [] };
  }

  /** The membership is over. */
  leave(): Assignment | undefined {
    this.#memberId = undefined;
    this.#isSilent = false;
    this.#given = [];
    const lost = this.#loseAll();
    return lost.length === 0 ? undefined : { lost, assigned: [] };
  }

  #isHeard(nowMs: number): boolean {
    return this.#memberId !== undefined && !this.#isSilent && nowMs - this.#lastBeatMs <= this.#silenceMaxMs;
  }

  #loseAll(): readonly TopicPartition[] {
    const lost = [...this.#owned.values()];
    this.#owned.clear();
    return lost;
  }

  #assign(): readonly TopicPartition[] {
    const assigned = this.#given.filter((partition) => !this.#owned.has(partitionKey(partition)));
    for (const partition of assigned) this.#owned.set(partitionKey(partition), partition);
    return assigned;
  }
}
