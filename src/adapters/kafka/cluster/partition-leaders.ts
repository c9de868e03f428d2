import type { PartitionBounds } from '../../../log/log-source.ts';
import type { TopicPartition } from '../../../log/position.ts';
import { assert } from '../../../runtime/assert.ts';
import { UnavailableError } from '../../../runtime/errors.ts';
import { KafkaCode } from '../kafka-error.ts';
import { type FetchAnswer, fetchRequest } from '../wire/fetch-request.ts';
import { EARLIEST, LATEST, listOffsetsRequest, type OffsetAnswer } from '../wire/list-offsets-request.ts';
import { BrokerLink } from './broker-link.ts';
import { type ClusterView, refusedTopic, type TopicView } from './cluster-view.ts';
import type { ConnectionSettings } from './connection-settings.ts';

/** Leaders move; so often a question is put before the log counts as unavailable. */
const ATTEMPTS = 5;
const PAUSE_MS = 100;

/** Single questions to the leaders of partitions: where they begin and end, what stands at an offset. */
export class PartitionLeaders {
  readonly #view: ClusterView;
  readonly #settings: ConnectionSettings;
  readonly #links = new Map<string, BrokerLink>();
  #isClosed = false;

  constructor(view: ClusterView, settings: ConnectionSettings) {
    this.#view = view;
    this.#settings = settings;
  }

  /** The bounds of all these partitions. Throws `UnavailableError`, `LogRefusedError`. */
  async bounds(topic: string, partitions: readonly number[]): Promise<readonly PartitionBounds[]> {
    const lows = await this.offsets(topic, partitions, EARLIEST);
    const ends = await this.offsets(topic, partitions, LATEST);
    return partitions.map((partition) => {
      const low = lows.get(partition);
      const end = ends.get(partition);
      assert(low !== undefined && end !== undefined, 'each partition asked for is answered', { topic, partition });
      return { partition, low, end: Math.max(low, end) };
    });
  }

  /** By partition the lowest offset stamped at or after the instant; -1: none is. */
  async offsets(topic: string, partitions: readonly number[], instantMs: number): Promise<ReadonlyMap<number, number>> {
    const found = new Map<number, number>();
    await this.#persist(topic, async () => {
      const open = partitions.filter((partition) => !found.has(partition));
      for (const [node, asked] of this.#byLeader(topic, open)) {
        const answers = await this.#link(node).request(listOffsetsRequest({ topic, partitions: asked, instantMs }));
        for (const answer of answers) this.#note(topic, answer, found);
      }
      return partitions.every((partition) => found.has(partition)) ? true : undefined;
    });
    return found;
  }

  /** What one fetch at the offset answers, at once; of one record batch only. */
  async fetchAt({ topic, partition }: TopicPartition, offset: number): Promise<FetchAnswer> {
    return this.#persist(topic, async () => {
      const view = this.#view.topic(topic);
      const node = leaderOf(view, partition);
      if (view?.kind !== 'there' || node === undefined) return undefined;
      const question = { topicId: view.id, partition, offset, bytesMax: 1 };
      const { answers } = await this.#link(node).request(fetchRequest([question], 0));
      const [answer] = answers;
      if (answer?.errorCode === KafkaCode.topicAuthorizationFailed) throw refusedTopic(topic);
      const isAnswer = answer?.errorCode === KafkaCode.none || answer?.errorCode === KafkaCode.offsetOutOfRange;
      return isAnswer ? answer : undefined;
    });
  }

  close(): void {
    this.#isClosed = true;
    for (const link of this.#links.values()) link.close();
  }

  /** Asks until there is an answer, with what is known of the cluster refreshed in between. */
  async #persist<T>(topic: string, ask: () => Promise<T | undefined>): Promise<T> {
    let problem: UnavailableError | undefined;
    for (let attempt = 1; attempt <= ATTEMPTS && !this.#isClosed; attempt += 1) {
      try {
        const answer = await ask();
        if (answer !== undefined) return answer;
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        problem = error;
      }
      await this.#settings.runtime.clock.sleep(PAUSE_MS * (attempt - 1));
      await this.#view.refresh([topic]);
    }
    throw (
      problem ??
      new UnavailableError(`A partition of ${topic} has no leader now.`, {
        details: { topic },
        hint: 'Look at the brokers: one that leads a partition may be down.',
      })
    );
  }

  #byLeader(topic: string, partitions: readonly number[]): ReadonlyMap<number, readonly number[]> {
    const view = this.#view.topic(topic);
    const byLeader = new Map<number, number[]>();
    for (const partition of partitions) {
      const leader = leaderOf(view, partition);
      if (leader === undefined) continue;
      byLeader.set(leader, [...(byLeader.get(leader) ?? []), partition]);
    }
    return byLeader;
  }

  #note(topic: string, { partition, errorCode, offset }: OffsetAnswer, found: Map<number, number>): void {
    if (errorCode === KafkaCode.none) found.set(partition, offset);
    if (errorCode === KafkaCode.topicAuthorizationFailed) throw refusedTopic(topic);
  }

  #link(node: number): BrokerLink {
    const address = this.#view.address(node);
    if (address === undefined || this.#isClosed) throw new UnavailableError(`Broker ${node} is not known.`);
    const key = `${address.host}:${address.port}`;
    const link = this.#links.get(key) ?? new BrokerLink(address, this.#settings);
    this.#links.set(key, link);
    return link;
  }
}

function leaderOf(view: TopicView | undefined, partition: number): number | undefined {
  return view?.kind === 'there' ? view.leaders.get(partition) : undefined;
}
