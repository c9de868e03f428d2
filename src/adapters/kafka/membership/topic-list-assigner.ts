import { AssignerProtocol, type PartitionAssigner } from 'kafkajs';
import type { TopicPartition } from '../../../log/position.ts';

export type GroupMember = { readonly id: string; readonly topics: readonly string[] };

/** Part of the group's protocol: members with another assigner cannot join. */
const NAME = 'TidemarkTopicLists';

/**
 * Gives each partition to one member that follows its topic, evenly. Members may follow different topics, as they do
 * while a new version is rolled out; a topic that nobody follows is given to nobody. Pure, and the same whatever the order.
 */
export function assignByTopicLists(
  members: readonly GroupMember[],
  partitionsOf: (topic: string) => readonly number[],
): ReadonlyMap<string, readonly TopicPartition[]> {
  const ordered = members.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const given = new Map<string, TopicPartition[]>(ordered.map(({ id }) => [id, []]));
  const topics = [...new Set(ordered.flatMap((member) => member.topics))].toSorted();
  // Topics with few followers first: the others can make up for them.
  const followers = (topic: string): readonly GroupMember[] =>
    ordered.filter((member) => member.topics.includes(topic));
  for (const topic of topics.toSorted((a, b) => followers(a).length - followers(b).length)) {
    for (const partition of partitionsOf(topic).toSorted((a, b) => a - b)) {
      const sharing = followers(topic).map(({ id }) => given.get(id) ?? []);
      const least = sharing.reduce((best, share) => (share.length < best.length ? share : best));
      least.push({ topic, partition });
    }
  }
  return given;
}

/** The assigner above, as kafkajs takes it. */
export const topicListAssigner: PartitionAssigner = ({ cluster }) => ({
  name: NAME,
  version: 0,
  async assign({ members }) {
    const parsed = members.map(({ memberId, memberMetadata }): GroupMember => {
      return { id: memberId, topics: AssignerProtocol.MemberMetadata.decode(memberMetadata)?.topics ?? [] };
    });
    // The leader may not follow a topic itself, and knows nothing of it then.
    await cluster.addMultipleTargetTopics([...new Set(parsed.flatMap(({ topics }) => topics))]);
    const partitionsOf = (topic: string): readonly number[] =>
      cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
    return [...assignByTopicLists(parsed, partitionsOf)].map(([memberId, partitions]) => {
      const assignment: Record<string, number[]> = {};
      for (const { topic, partition } of partitions) (assignment[topic] ??= []).push(partition);
      const memberAssignment = AssignerProtocol.MemberAssignment.encode({
        version: 0,
        assignment,
        userData: Buffer.alloc(0),
      });
      return { memberId, memberAssignment };
    });
  },
  protocol({ topics }) {
    const metadata = AssignerProtocol.MemberMetadata.encode({ version: 0, topics, userData: Buffer.alloc(0) });
    return { name: NAME, metadata };
  },
});
