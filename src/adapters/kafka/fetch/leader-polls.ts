import { UnavailableError } from '../../../runtime/errors.ts';
import { BrokerLink } from '../cluster/broker-link.ts';
import type { ClusterView } from '../cluster/cluster-view.ts';
import type { ConnectionSettings } from '../cluster/connection-settings.ts';
import { type FetchAnswer, fetchRequest } from '../wire/fetch-request.ts';
import type { Flight, PartitionFeed } from './partition-feed.ts';

/**
 * How long the broker waits for something to come, milliseconds. One poll alone would let a busy partition wait for the
 * idle ones beside it:
 * - `long` holds all that wait;
 * - `join`, beside it, takes what wants more meanwhile; the next long poll begins when it is back, so that all meet there;
 * - `now` asks for what finds both on their way, or must not wait.
 */
const waits = { long: 500, join: 20, now: 0 } as const;

type PollKind = keyof typeof waits;

/** Which topic the partition is of, by its id. */
export type PolledFeed = { readonly feed: PartitionFeed; readonly topicId: string };

export type PollOutcome =
  | { readonly kind: 'answer'; readonly answer: FetchAnswer; readonly flight: Flight; readonly feed: PartitionFeed }
  | { readonly kind: 'failed'; readonly error: unknown; readonly feed: PartitionFeed };

export type LeaderPollsParts = {
  readonly node: number;
  readonly view: ClusterView;
  readonly settings: ConnectionSettings;
  readonly onOutcome: (outcome: PollOutcome) => void;
  /** Told after all outcomes of a poll. */
  readonly onOver: () => void;
};

/** The polls of one session at one broker, on connections of their own. Asks nothing without demand. */
export class LeaderPolls {
  readonly #parts: LeaderPollsParts;
  readonly #links = new Map<PollKind, BrokerLink>();
  readonly #flying = new Set<PollKind>();
  #turn = 0;
  #isClosed = false;

  constructor(parts: LeaderPollsParts) {
    this.#parts = parts;
  }

  /** Asks for what is wanted, as far as a poll is free; what is left is offered again when one is over. */
  offer(feeds: readonly PolledFeed[]): void {
    if (this.#isClosed) return;
    const open = feeds.filter(({ feed }) => feed.isOpen);
    const isLongFlying = this.#flying.has('long');
    const isJoinFlying = this.#flying.has('join');
    if (open.length > 0 && !isJoinFlying) this.#start(isLongFlying ? 'join' : 'long', open);
    if (this.#flying.has('now')) return;
    const hurried = feeds.filter(({ feed }) => feed.isUrgent || (feed.isOpen && !feed.hasTriedNow));
    if (hurried.length > 0) this.#start('now', hurried);
  }

  close(): void {
    this.#isClosed = true;
    for (const link of this.#links.values()) link.close();
  }

  #start(kind: PollKind, feeds: readonly PolledFeed[]): void {
    this.#flying.add(kind);
    // Whoever stands first gets its share when not all fits.
    this.#turn += 1;
    const first = this.#turn % feeds.length;
    const asked = [...feeds.slice(first), ...feeds.slice(0, first)].map((polled) => {
      polled.feed.hasTriedNow = kind === 'now';
      return { ...polled, flight: polled.feed.begin() };
    });
    void this.#poll(kind, asked).finally(() => {
      this.#flying.delete(kind);
      for (const { feed, flight } of asked) feed.end(flight);
      this.#parts.onOver();
    });
  }

  async #poll(kind: PollKind, asked: readonly (PolledFeed & { readonly flight: Flight })[]): Promise<void> {
    const { onOutcome } = this.#parts;
    const questions = asked.map(({ feed, topicId, flight: { offset, bytesMax } }) => {
      return { topicId, partition: feed.partition.partition, offset, bytesMax };
    });
    const waitMs = waits[kind];
    try {
      const { errorCode, answers } = await this.#link(kind).request(fetchRequest(questions, waitMs), waitMs);
      if (errorCode !== 0) throw new UnavailableError(`A fetch was answered with error ${errorCode}.`);
      // A small part would keep all of the answer in memory.
      const isShared = answers.filter(({ records }) => records.length > 0).length > 1;
      const byPartition = new Map(answers.map((answer) => [`${answer.topicId}:${answer.partition}`, answer]));
      for (const { feed, topicId, flight } of asked) {
        const answer = byPartition.get(`${topicId}:${feed.partition.partition}`);
        if (answer === undefined) continue;
        const records = isShared ? Buffer.from(answer.records) : answer.records;
        onOutcome({ kind: 'answer', answer: { ...answer, records }, flight, feed });
      }
    } catch (error) {
      this.#links.get(kind)?.close();
      this.#links.delete(kind);
      for (const { feed } of asked) onOutcome({ kind: 'failed', error, feed });
    }
  }

  #link(kind: PollKind): BrokerLink {
    const { node, view, settings } = this.#parts;
    const known = this.#links.get(kind);
    if (known !== undefined) return known;
    const address = view.address(node);
    if (address === undefined) throw new UnavailableError(`Broker ${node} is not known.`);
    const link = new BrokerLink(address, settings);
    this.#links.set(kind, link);
    return link;
  }
}
