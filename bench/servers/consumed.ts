import { Kafka, type KafkaMessage, logLevel } from 'kafkajs';

export type Consumption = {
  readonly brokers: string;
  readonly topic: string;
  /** How many there are to read. */
  readonly records: number;
  /** Of a partition, at once. */
  readonly bytes: number;
  /** Partitions handled at once; default 1. */
  readonly concurrency?: number;
};

/** Reads a topic from its beginning by a plain consumer; offsets are committed after each batch, as kafkajs does. */
export async function consumed(
  { brokers, topic, records, bytes, concurrency = 1 }: Consumption,
  handle: (batch: readonly KafkaMessage[]) => Promise<void>,
): Promise<{ readonly ms: number; readonly records: number }> {
  const kafka = new Kafka({ clientId: 'bench', brokers: brokers.split(','), logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({
    groupId: `bench-${process.pid}-${Date.now()}`,
    maxBytesPerPartition: bytes,
    maxBytes: 4 * bytes,
  });
  const over = Promise.withResolvers<void>();
  let seen = 0;
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const startedMs = performance.now();
  await consumer.run({
    eachBatchAutoResolve: true,
    partitionsConsumedConcurrently: concurrency,
    eachBatch: async ({ batch: { messages } }) => {
      const taken = messages.slice(0, records - seen);
      await handle(taken);
      seen += taken.length;
      if (seen >= records) over.resolve();
    },
  });
  await over.promise;
  const ms = performance.now() - startedMs;
  await consumer.disconnect();
  return { ms, records: seen };
}
