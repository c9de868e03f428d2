import { UnavailableError } from '../../../runtime/errors.ts';
import { KafkaCode, LogRefusedError } from '../kafka-error.ts';
import { findCoordinatorRequest } from '../wire/find-coordinator-request.ts';
import {
  type BrokerAddress,
  type MetadataAnswer,
  metadataRequest,
  type TopicAnswer,
} from '../wire/metadata-request.ts';
import type { WireRequest } from '../wire/wire-request.ts';
import { BrokerLink } from './broker-link.ts';
import type { ConnectionSettings } from './connection-settings.ts';

/** A topic as the cluster told last. */
export type TopicView =
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused' }
  | {
      readonly kind: 'there';
      /** Another one when the topic was deleted and made anew. */
      readonly id: string;
      /** By partition number; a partition without leader has `undefined`. */
      readonly leaders: ReadonlyMap<number, number | undefined>;
    };

type Gathering = { readonly topics: Set<string>; readonly done: Promise<void> };

/** What is known of the cluster: its brokers, and who leads which partition. Shared by all sessions of a log. */
export class ClusterView {
  readonly #settings: ConnectionSettings;
  readonly #seeds: readonly BrokerAddress[];
  readonly #brokers = new Map<number, BrokerAddress>();
  readonly #topics = new Map<string, TopicView>();
  #clusterId = '';
  #link: BrokerLink | undefined;
  #nextAddress = 0;
  #gathering: Gathering | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(settings: ConnectionSettings) {
    this.#settings = settings;
    this.#seeds = settings.brokers.map(parseAddress);
  }

  get clusterId(): string {
    return this.#clusterId;
  }

  /** `undefined`: never asked for. */
  topic(name: string): TopicView | undefined {
    return this.#topics.get(name);
  }

  address(node: number): BrokerAddress | undefined {
    return this.#brokers.get(node);
  }

  /**
   * Asks the cluster anew; calls that come while one asks share the next question. Throws `UnavailableError` when no
   * broker answers, `LogRefusedError`, `LogUnsupportedError`.
   */
  refresh(topics: Iterable<string>): Promise<void> {
    this.#gathering ??= this.#gather();
    for (const topic of topics) this.#gathering.topics.add(topic);
    return this.#gathering.done;
  }

  /** As it was told just now. Throws as `refresh` does, and `LogRefusedError` for the topic. */
  async freshTopic(name: string): Promise<Extract<TopicView, { kind: 'missing' | 'there' }>> {
    await this.refresh([name]);
    const view = this.#topics.get(name) ?? { kind: 'missing' };
    if (view.kind === 'refused') throw refusedTopic(name);
    return view;
  }

  /** Why the user may not be a member of the group; `undefined`: nothing speaks against it. */
  async groupRefusal(groupId: string): Promise<LogRefusedError | undefined> {
    const errorCode = await this.#ask(findCoordinatorRequest(groupId));
    if (errorCode !== KafkaCode.groupAuthorizationFailed) return undefined;
    return new LogRefusedError(`Kafka refused the group ${groupId} to this user.`, {
      details: { groupId },
      hint: 'Give the user the right to read the group: all groups of the client id, by their common prefix.',
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#link?.close();
  }

  #gather(): Gathering {
    const topics = new Set<string>();
    const done = this.#refreshAfter(this.#last, topics);
    this.#last = done.catch(() => undefined);
    return { topics, done };
  }

  async #refreshAfter(last: Promise<unknown>, topics: ReadonlySet<string>): Promise<void> {
    await last;
    this.#gathering = undefined;
    this.#note([...topics], await this.#ask(metadataRequest([...topics])));
  }

  /** Asks the broker that answered last, else one after the other. */
  async #ask<T>(request: WireRequest<T>): Promise<T> {
    let problem: unknown = new UnavailableError('No broker is named.');
    const known = new Map([...this.#brokers.values(), ...this.#seeds].map((address) => [keyOf(address), address]));
    for (let attempt = 0; attempt <= known.size && !this.#isClosed; attempt += 1) {
      const link = this.#link ?? this.#connectTo([...known.values()]);
      try {
        return await link.request(request);
      } catch (error) {
        link.close();
        this.#link = undefined;
        problem = error;
        if (!(error instanceof UnavailableError)) break;
      }
    }
    throw problem;
  }

  #connectTo(addresses: readonly BrokerAddress[]): BrokerLink {
    const address = addresses[this.#nextAddress % addresses.length];
    this.#nextAddress += 1;
    if (address === undefined) throw new UnavailableError('No broker is named.');
    this.#link = new BrokerLink(address, this.#settings);
    return this.#link;
  }

  #note(topics: readonly string[], { brokers, clusterId, topics: answers }: MetadataAnswer): void {
    this.#clusterId = clusterId;
    // A broker that is down is missing, and comes back under its number.
    for (const { node, host, port } of brokers) this.#brokers.set(node, { host, port });
    const byName = new Map(answers.map((answer) => [answer.topic, answer]));
    for (const topic of topics) this.#topics.set(topic, toView(byName.get(topic)));
  }
}

function toView(answer: TopicAnswer | undefined): TopicView {
  if (answer?.errorCode === KafkaCode.topicAuthorizationFailed) return { kind: 'refused' };
  if (answer === undefined || answer.errorCode === KafkaCode.unknownTopicOrPartition) return { kind: 'missing' };
  if (answer.partitions.length === 0) return { kind: 'missing' };
  const leaders = answer.partitions
    .toSorted((a, b) => a.partition - b.partition)
    .map(({ partition, leader }) => [partition, leader < 0 ? undefined : leader] as const);
  return { kind: 'there', id: answer.id, leaders: new Map(leaders) };
}

export function refusedTopic(topic: string): LogRefusedError {
  return new LogRefusedError(`Kafka refused the topic ${topic} to this user.`, {
    details: { topic },
    hint: 'Give the user the right to describe and read the topic.',
  });
}

function keyOf({ host, port }: BrokerAddress): string {
  return `${host}:${port}`;
}

/** `host:port`; an IPv6 host stands in brackets. */
function parseAddress(text: string): BrokerAddress {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[(.*)\]$/, '$1'), port: Number(text.slice(colon + 1)) };
}
