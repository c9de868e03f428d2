import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PriorityQueue } from '../../../src/runtime/priority-queue.ts';

describe('A priority queue', () => {
  test('gives nothing while it is empty', () => {
    const queue = new PriorityQueue<number>((rank) => rank);
    expect([queue.peek(), queue.pop(), queue.size]).toEqual([undefined, undefined, 0]);
  });

  test('gives what was pushed lowest first, whatever is pushed and taken in between', () => {
    const step = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constant('pop' as const));
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const queue = new PriorityQueue<{ readonly at: number }>(({ at }) => at);
        let model: number[] = [];
        const taken: unknown[] = [];
        const expected: unknown[] = [];
        for (const each of [...steps, ...steps.map(() => 'pop' as const)]) {
          if (each === 'pop') {
            taken.push(queue.peek()?.at, queue.pop()?.at, queue.size);
            const [lowest, ...rest] = model.toSorted((a, b) => a - b);
            model = rest;
            expected.push(lowest, lowest, rest.length);
          } else {
            queue.push({ at: each });
            model.push(each);
          }
        }
        expect(taken).toEqual(expected);
      }),
    );
  });
});
