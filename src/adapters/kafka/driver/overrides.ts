/** How long kafkajs waits before it looks again at requests that could not be sent, milliseconds. */
const CHECK_INTERVAL_MS = 10;

/** UNKNOWN_TOPIC_OR_PARTITION and LEADER_NOT_AVAILABLE. */
const PASSING_ERRORS = new Set([3, 5]);

type Queue = {
  readonly pending: readonly unknown[];
  readonly throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
};

export type TopicMetadata = {
  readonly topicErrorCode: number;
  readonly partitionMetadata: readonly { readonly partitionErrorCode: number }[];
};

export type Metadata = { readonly topicMetadata: readonly TopicMetadata[] };

type MetadataProtocol = {
  readonly request: object;
  readonly response: {
    readonly decode: (payload: unknown) => Promise<Metadata>;
    readonly parse: (decoded: Metadata) => Promise<Metadata>;
  };
};

type MetadataBroker = {
  readonly allowAutoTopicCreation: boolean;
  readonly connectionPool: { send(protocol: MetadataProtocol): Promise<Metadata> };
  readonly lookupRequest: (
    apiKey: number,
    definition: unknown,
  ) => (options: { readonly topics: readonly string[]; readonly allowAutoTopicCreation: boolean }) => MetadataProtocol;
};

const METADATA_API_KEY = 3;

/**
 * Cures two habits of kafkajs 2.2.4:
 * - An idle request queue starts a timer that starts the next one, for ever: a thousand a second and consumer. Without
 *   requests that wait there is nothing to look at.
 * - One topic that is deleted, or one partition without leader, makes every refresh of the metadata fail; it is then
 *   repeated in silence while heartbeats stop, and the member is put out of its group. Such topics and partitions stay
 *   visible as what they are, and only other errors fail the refresh.
 */
export function healPrototypes(modules: {
  readonly RequestQueue: { readonly prototype: { scheduleCheckPendingRequests: unknown } };
  readonly Broker: { readonly prototype: { metadata: unknown } };
  readonly metadata: unknown;
}): void {
  modules.RequestQueue.prototype.scheduleCheckPendingRequests = function (this: Queue): void {
    if (this.pending.length === 0 || this.throttleCheckTimeoutId !== null) return;
    const delayMs = Math.max(CHECK_INTERVAL_MS, this.throttledUntil - Date.now());
    this.throttleCheckTimeoutId = setTimeout(() => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    }, delayMs);
  };
  modules.Broker.prototype.metadata = async function (
    this: MetadataBroker,
    topics: readonly string[] = [],
  ): Promise<Metadata> {
    const protocol = this.lookupRequest(
      METADATA_API_KEY,
      modules.metadata,
    )({
      topics,
      allowAutoTopicCreation: this.allowAutoTopicCreation,
    });
    const { decode, parse } = protocol.response;
    const lenient = async (decoded: Metadata): Promise<Metadata> => {
      await parse(withoutPassingErrors(decoded));
      return decoded;
    };
    return this.connectionPool.send({ ...protocol, response: { decode, parse: lenient } });
  };
}

/** What is left when topics and partitions that come and go are taken out. */
export function withoutPassingErrors(metadata: Metadata): Metadata {
  return {
    ...metadata,
    topicMetadata: metadata.topicMetadata
      .filter(({ topicErrorCode }) => !PASSING_ERRORS.has(topicErrorCode))
      .map((topic) => ({
        ...topic,
        partitionMetadata: topic.partitionMetadata.filter(
          ({ partitionErrorCode }) => !PASSING_ERRORS.has(partitionErrorCode),
        ),
      })),
  };
}
