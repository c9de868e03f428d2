import { createRequire } from 'node:module';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { assertVersion, kafkajsInternals } from '../../../../../src/adapters/kafka/driver/kafkajs-internals.ts';
import { withoutPassingErrors } from '../../../../../src/adapters/kafka/driver/overrides.ts';

const require = createRequire(import.meta.url);
const silent = {
  namespace: () => silent,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

describe('the inner modules of kafkajs', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test('are used in the version that is known alone', () => {
    expect(() => kafkajsInternals()).not.toThrow();
    expect(() => assertVersion('2.2.5')).toThrow(expect.objectContaining({ code: 'ASSERTION_FAILED' }));
  });

  test('start no timers for a queue in which nothing waits, and one for a queue that is throttled', () => {
    kafkajsInternals();
    const RequestQueue = require('kafkajs/src/network/requestQueue') as new (options: object) => Queue;
    const queue = new RequestQueue({
      maxInFlightRequests: null,
      requestTimeout: 1_000,
      enforceRequestTimeout: false,
      clientId: 'c',
      broker: 'b',
      logger: silent,
    });
    queue.checkPendingRequests();
    expect(queue.throttleCheckTimeoutId).toBeNull();
    const sent: string[] = [];
    const request = (correlationId: number, name: string) => ({
      entry: {
        apiKey: 0,
        apiName: name,
        apiVersion: 0,
        correlationId,
        resolve: () => undefined,
        reject: () => undefined,
      },
      expectResponse: true,
      requestTimeout: null,
      sendRequest: () => sent.push(name),
    });
    queue.maybeThrottle(15);
    queue.push(request(1, 'late'));
    expect([sent.length, queue.throttleCheckTimeoutId === null]).toEqual([0, false]);
    vi.advanceTimersByTime(15);
    expect(sent).toEqual(['late']);
    expect(queue.throttleCheckTimeoutId).toBeNull();
  });

  test('keep the metadata of healthy topics when one is deleted and another has no leader', async () => {
    const { Broker } = kafkajsInternals();
    const broker = metadataBroker(Broker.prototype as MetadataBroker, [
      topicAnswer('gone', 3),
      topicAnswer('leaderless', 0, 5),
      topicAnswer('sound', 0),
    ]);
    const { topicMetadata } = await broker.metadata(['gone', 'leaderless', 'sound']);
    expect(topicMetadata.map(({ topic }) => topic)).toEqual(['gone', 'leaderless', 'sound']);
  });

  test('fail on topics that are refused, as before', async () => {
    const { Broker } = kafkajsInternals();
    const broker = metadataBroker(Broker.prototype as MetadataBroker, [topicAnswer('refused', 29)]);
    await expect(broker.metadata(['refused'])).rejects.toMatchObject({ type: 'TOPIC_AUTHORIZATION_FAILED' });
    expect(withoutPassingErrors({ topicMetadata: [topicAnswer('refused', 29)] }).topicMetadata).toHaveLength(1);
  });
});

type Queue = {
  readonly throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  maybeThrottle(ms: number): void;
  push(request: object): void;
};

type Answer = {
  readonly topicErrorCode: number;
  readonly topic: string;
  readonly partitionMetadata: readonly PartitionAnswer[];
};
type PartitionAnswer = { readonly partitionErrorCode: number };
type MetadataBroker = { metadata(topics: readonly string[]): Promise<{ readonly topicMetadata: readonly Answer[] }> };

function topicAnswer(topic: string, topicErrorCode: number, partitionErrorCode = 0): Answer {
  return { topic, topicErrorCode, partitionMetadata: [{ partitionErrorCode }] };
}

/** A broker of kafkajs whose connection answers with this, past the decoding of bytes. */
function metadataBroker(prototype: MetadataBroker, topicMetadata: readonly Answer[]): MetadataBroker {
  const { parse } = require('kafkajs/src/protocol/requests/metadata/v6/response') as {
    parse: (data: unknown) => unknown;
  };
  type Protocol = { readonly response: { readonly parse: (data: unknown) => unknown } };
  return Object.assign(Object.create(prototype) as MetadataBroker, {
    allowAutoTopicCreation: false,
    lookupRequest: () => () => ({ request: {}, response: { decode: () => undefined, parse } }),
    connectionPool: { send: ({ response }: Protocol) => response.parse({ brokers: [], topicMetadata }) },
  });
}
