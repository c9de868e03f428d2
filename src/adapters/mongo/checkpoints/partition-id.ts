import type { Scope } from '../../../checkpoints/epoch.ts';
import { partitionKey, type TopicPartition } from '../../../log/position.ts';

/** The `_id` of what there is one of per subscription, generation and partition. The order of members matters. */
export type PartitionId = Scope & TopicPartition;

export function partitionIdOf({ subscription, generation }: Scope, { topic, partition }: TopicPartition): PartitionId {
  return { subscription, generation, topic, partition };
}

/** A map key for a partition of a scope; injective, since numbers hold no colon. */
export function scopedKeyOf({ subscription, generation }: Scope, partition: TopicPartition): string {
  return `${generation}:${subscription.length}:${subscription}:${partitionKey(partition)}`;
}

/** A filter for everything of a scope that has a `PartitionId`, or another id that begins like it. */
export function inScope({ subscription, generation }: Scope): {
  readonly '_id.subscription': string;
  readonly '_id.generation': number;
} {
  return { '_id.subscription': subscription, '_id.generation': generation };
}
