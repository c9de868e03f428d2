/** One partition of one topic. Order holds inside a partition only. */
export type TopicPartition = { readonly topic: string; readonly partition: number };

/** Where a record stands in the log. Offsets are non-negative safe integers. */
export type Position = TopicPartition & { readonly offset: number };

/** A map key for a partition; injective, since a partition number holds no colon. */
export function partitionKey({ topic, partition }: TopicPartition): string {
  return `${partition}:${topic}`;
}
