import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { assignByTopicLists } from '../../../../../src/adapters/kafka/membership/topic-list-assigner.ts';
import { partitionKey } from '../../../../../src/log/position.ts';

const partitions: Readonly<Record<string, readonly number[]>> = { a: [0, 1, 2, 3], b: [0, 1], none: [] };
const partitionsOf = (topic: string) => partitions[topic] ?? [];

function shares(members: Parameters<typeof assignByTopicLists>[0]): Record<string, string[]> {
  const given = assignByTopicLists(members, partitionsOf);
  return Object.fromEntries(
    [...given].map(([id, share]) => [id, share.map(partitionKey).toSorted((a, b) => a.localeCompare(b))]),
  );
}

describe('partitions of a group', () => {
  test('are shared out evenly', () => {
    const topics = ['a', 'b'];
    const given = shares([
      { id: 'x', topics },
      { id: 'y', topics },
      { id: 'z', topics },
    ]);
    expect(Object.values(given).map((share) => share.length)).toEqual([2, 2, 2]);
  });

  test('go to members that follow their topic, who get less of what all follow', () => {
    const given = shares([
      { id: 'new', topics: ['a', 'b'] },
      { id: 'old', topics: ['a'] },
    ]);
    expect(given).toEqual({ new: ['0:b', '1:b', '2:a'], old: ['0:a', '1:a', '3:a'] });
  });

  test('of a topic that is not there yet are none', () => {
    expect(shares([{ id: 'x', topics: ['none', 'unheard-of'] }])).toEqual({ x: [] });
  });

  test('are each given once, to a follower, whatever the order of members', () => {
    const member = fc.record({ id: fc.string(), topics: fc.subarray(['a', 'b', 'none']) });
    fc.assert(
      fc.property(fc.uniqueArray(member, { selector: ({ id }) => id, maxLength: 6 }), (members) => {
        const given = shares(members);
        const followed = [...new Set(members.flatMap(({ topics }) => topics))];
        const expected = followed.flatMap((topic) => partitionsOf(topic).map((partition) => `${partition}:${topic}`));
        expect(Object.values(given).flat().toSorted()).toEqual(expected.toSorted());
        for (const { id, topics } of members) {
          expect((given[id] ?? []).every((key) => topics.includes(key.slice(2)))).toBe(true);
        }
        expect(shares(members.toReversed())).toEqual(given);
      }),
    );
  });
});
