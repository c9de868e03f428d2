import { LogChangedError } from '../../../log/log-changed-error.ts';
import { OffsetOutOfRangeError } from '../../../log/offset-out-of-range-error.ts';
import { partitionKey, type TopicPartition } from '../../../log/position.ts';
import { assert } from '../../../runtime/assert.ts';
import { UnavailableError } from '../../../runtime/errors.ts';
import type { Inflate } from '../batches/codecs.ts';
import { type ClusterView, refusedTopic } from '../cluster/cluster-view.ts';
import type { ConnectionSettings } from '../cluster/connection-settings.ts';
import type { PartitionLeaders } from '../cluster/partition-leaders.ts';
import { KafkaCode, toLogError } from '../kafka-error.ts';
import { LeaderPolls, type PolledFeed, type PollOutcome } from './leader-polls.ts';
import { type Bounds, PartitionFeed } from './partition-feed.ts';

export type FetchClientParts = {
  readonly view: ClusterView;
  readonly leaders: PartitionLeaders;
  readonly settings: ConnectionSettings;
  readonly inflate: Inflate;
};

/** Before what is known of the cluster is asked for again: nothing at first, then doubling up to the second. */
const REFRESH_INITIAL_MS = 50;
const REFRESH_MAX_MS = 500;

/**
 * Fetches what the feeds of a session want, from whichever broker leads the partition. Whatever goes wrong on the way is
 * tried again; what cannot be helped that way goes to the reader: an offset that is not there, a topic that is another.
 */
export class FetchClient {
  readonly #parts: FetchClientParts;
  readonly #feeds = new Map<string, PartitionFeed>();
  readonly #polls = new Map<number, LeaderPolls>();
  /** Which log a topic was when it was first met. */
  readonly #topicIds = new Map<string, string>();
  /** Whose offset is being looked for in the log's bounds. */
  readonly #judging = new Set<PartitionFeed>();
  readonly #closing = new AbortController();
  #isScheduled = false;
  #isRefreshing = false;

  constructor(parts: FetchClientParts) {
    this.#parts = parts;
  }

  feed(partition: TopicPartition): PartitionFeed {
    const key = partitionKey(partition);
    let feed = this.#feeds.get(key);
    if (feed === undefined) {
      const { inflate, settings } = this.#parts;
      const { topic, partition: number } = partition;
      const nowMs = (): number => settings.runtime.clock.monotonicMs();
      feed = new PartitionFeed({ topic, partition: number }, { inflate, nowMs });
      this.#feeds.set(key, feed);
    }
    return feed;
  }

  /** Lets go of what is held of a partition. Its reader is woken. */
  forget(partition: TopicPartition): void {
    const key = partitionKey(partition);
    const feed = this.#feeds.get(key);
    this.#feeds.delete(key);
    feed?.wake();
  }

  wakeAll(): void {
    for (const feed of this.#feeds.values()) feed.wake();
  }

  /** From now on the topic is this log; one that is made anew under its name is an error. */
  bind(topic: string): void {
    const view = this.#parts.view.topic(topic);
    if (view?.kind === 'there' && !this.#topicIds.has(topic)) this.#topicIds.set(topic, view.id);
  }

  /** Looks at what is wanted, once all of this turn have said so. */
  schedule(): void {
    if (this.#isScheduled || this.#closing.signal.aborted) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#ask();
    });
  }

  /** Breaks all connections at once. */
  close(): void {
    this.#closing.abort();
    for (const polls of this.#polls.values()) polls.close();
    this.wakeAll();
  }

  #ask(): void {
    if (this.#closing.signal.aborted) return;
    const byLeader = new Map<number, PolledFeed[]>();
    for (const feed of this.#feeds.values()) {
      if (!feed.hasDemand || feed.isHeld) continue;
      const place = this.#placeOf(feed);
      if (place === undefined) {
        feed.isHeld = true;
        continue;
      }
      const polled = byLeader.get(place.leader) ?? [];
      polled.push({ feed, topicId: place.topicId });
      byLeader.set(place.leader, polled);
    }
    for (const [node, polled] of byLeader) this.#pollsOf(node).offer(polled);
    if (this.#held().length > 0) void this.#refresh();
  }

  /** Where to ask; `undefined`: the cluster must be asked first. */
  #placeOf({ partition: { topic, partition } }: PartitionFeed): { leader: number; topicId: string } | undefined {
    this.bind(topic);
    const topicId = this.#topicIds.get(topic);
    const view = this.#parts.view.topic(topic);
    if (view?.kind !== 'there' || view.id !== topicId) return undefined;
    const leader = view.leaders.get(partition);
    return leader === undefined || this.#parts.view.address(leader) === undefined ? undefined : { leader, topicId };
  }

  #pollsOf(node: number): LeaderPolls {
    let polls = this.#polls.get(node);
    if (polls === undefined) {
      const { view, settings } = this.#parts;
      const onOutcome = (outcome: PollOutcome): void => this.#note(outcome);
      polls = new LeaderPolls({ node, view, settings, onOutcome, onOver: () => this.schedule() });
      this.#polls.set(node, polls);
    }
    return polls;
  }

  #note(outcome: PollOutcome): void {
    const { feed } = outcome;
    if (outcome.kind === 'failed') {
      const error = toLogError(outcome.error, 'fetching');
      if (error instanceof UnavailableError) this.#hold(feed, error);
      else feed.fail(error);
      return;
    }
    const { answer, flight } = outcome;
    const { topic, partition } = feed.partition;
    switch (answer.errorCode) {
      case KafkaCode.none:
        feed.accept(flight, answer);
        return;
      case KafkaCode.offsetOutOfRange:
        feed.isHeld = true;
        void this.#judgeRange(feed, flight.offset);
        return;
      case KafkaCode.topicAuthorizationFailed:
        feed.fail(refusedTopic(topic));
        return;
      default:
        this.#hold(
          feed,
          new UnavailableError(`Partition ${partition} of ${topic} is not served now (error ${answer.errorCode}).`, {
            details: { topic, partition, errorCode: answer.errorCode },
          }),
        );
    }
  }

  /** Nothing more is asked for it until the cluster was asked. */
  #hold(feed: PartitionFeed, error: UnavailableError): void {
    feed.isHeld = true;
    feed.troubles += 1;
    feed.trouble(error);
  }

  #held(): readonly PartitionFeed[] {
    return [...this.#feeds.values()].filter((feed) => feed.isHeld && feed.hasDemand && !this.#judging.has(feed));
  }

  /** Asks the cluster until nothing that is wanted is held any more. */
  async #refresh(): Promise<void> {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    try {
      const { signal } = this.#closing;
      for (let held = this.#held(); held.length > 0 && !signal.aborted; held = this.#held()) {
        const troubles = Math.min(...held.map((feed) => feed.troubles));
        const delayMs = troubles <= 1 ? 0 : Math.min(REFRESH_MAX_MS, REFRESH_INITIAL_MS * 2 ** (troubles - 2));
        await this.#parts.settings.runtime.clock.sleep(delayMs, signal);
        await this.#refreshOnce();
      }
    } finally {
      this.#isRefreshing = false;
      this.schedule();
    }
  }

  async #refreshOnce(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const held = this.#held();
    try {
      await this.#parts.view.refresh(held.map(({ partition }) => partition.topic));
    } catch (error) {
      const problem = toLogError(error, 'asking for the leaders of partitions');
      for (const feed of held) {
        if (problem instanceof UnavailableError) this.#hold(feed, problem);
        else this.#failHeld(feed, problem);
      }
      return;
    }
    for (const feed of held) this.#judge(feed);
    this.schedule();
  }

  /** What the cluster said means for a partition that waited for it. */
  #judge(feed: PartitionFeed): void {
    const { topic, partition } = feed.partition;
    const view = this.#parts.view.topic(topic);
    this.bind(topic);
    const boundId = this.#topicIds.get(topic);
    if (view?.kind === 'refused') this.#failHeld(feed, refusedTopic(topic));
    else if (view?.kind !== 'there') this.#hold(feed, new UnavailableError(`The topic ${topic} does not exist.`));
    else if (view.id !== boundId) this.#failHeld(feed, changedLog(topic));
    else if (this.#placeOf(feed) === undefined) {
      this.#hold(feed, new UnavailableError(`Partition ${partition} of ${topic} has no leader now.`));
    } else feed.isHeld = false;
  }

  #failHeld(feed: PartitionFeed, error: unknown): void {
    feed.isHeld = false;
    // It is wanted anew, or not at all.
    feed.want('none');
    feed.fail(error);
  }

  /** The answer does not say where the log begins and ends. */
  async #judgeRange(feed: PartitionFeed, offset: number): Promise<void> {
    if (this.#judging.has(feed)) return;
    this.#judging.add(feed);
    const { topic, partition } = feed.partition;
    try {
      const [bounds] = await this.#parts.leaders.bounds(topic, [partition]);
      assert(bounds !== undefined, 'a partition asked for is answered', { topic, partition });
      if (offset < bounds.low || offset > bounds.end)
        this.#failHeld(feed, outOfRange({ ...feed.partition, offset }, bounds));
      else feed.isHeld = false;
    } catch (error) {
      const problem = toLogError(error, 'asking where a partition begins and ends');
      if (problem instanceof UnavailableError) this.#hold(feed, problem);
      else this.#failHeld(feed, problem);
    } finally {
      this.#judging.delete(feed);
      this.schedule();
    }
  }
}

function outOfRange(
  { topic, partition, offset }: TopicPartition & { readonly offset: number },
  { low, end }: Bounds,
): OffsetOutOfRangeError {
  return new OffsetOutOfRangeError(
    `Offset ${offset} of partition ${partition} of ${topic} is not in the log, which goes from ${low} to ${end}.`,
    {
      details: { topic, partition, offset, low, end },
      hint: 'Either retention has taken records that were not handled, or the log is not the one it was.',
    },
  );
}

function changedLog(topic: string): LogChangedError {
  return new LogChangedError(`The topic ${topic} was deleted and made anew: it is another log than the one followed.`, {
    details: { topic },
    hint: 'Start the subscription anew on the new log under another name, or reset it.',
  });
}
