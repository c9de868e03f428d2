import { partitionKey, type TopicPartition } from '../../../log/position.ts';

/** Under this key, changes of the set of partitions are told. */
export const topicsKey = 'topics';

/** Under this key, new records of a partition are told. */
export function streamKey(partition: TopicPartition): string {
  return partitionKey(partition);
}
