import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sequenceOfKey, sequenceOfPosition, sequenceOfRef } from '../../../src/failures/sequence.ts';
import { refOf } from '../../../src/log/ref.ts';

describe('Names of sequences', () => {
  test('differ for what is not the same aggregate, key or place', () => {
    const ref = refOf({ context: 'shop', aggregate: 'order', tenantId: '(0)', id: 'a' });
    const names = [
      sequenceOfRef(ref),
      sequenceOfKey('topic', 'a'),
      sequenceOfKey('topic:a', ''),
      sequenceOfKey('topic', ':a'),
      sequenceOfKey('', 'topic:a'),
      sequenceOfPosition({ topic: 'topic', partition: 0, offset: 1 }),
      sequenceOfPosition({ topic: 'topic:0', partition: 0, offset: 1 }),
      sequenceOfPosition({ topic: 'topic', partition: 0, offset: 11 }),
      sequenceOfPosition({ topic: 'topic', partition: 1, offset: 1 }),
    ];
    expect(new Set(names).size).toBe(names.length);
  });

  test('of keys are one-to-one for any topic and any aggregate id', () => {
    const pair = fc.tuple(
      fc.string({ unit: fc.constantFrom('a', ':', '1', '\0') }),
      fc.string({ unit: fc.constantFrom('a', ':', '1') }),
    );
    fc.assert(
      fc.property(pair, pair, ([topicA, idA], [topicB, idB]) => {
        const isSame = topicA === topicB && idA === idB;
        expect(sequenceOfKey(topicA, idA) === sequenceOfKey(topicB, idB)).toBe(isSame);
      }),
    );
  });
});
