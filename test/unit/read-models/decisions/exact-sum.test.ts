import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addExact, ExactSum } from '../../../../src/read-models/decisions/exact-sum.ts';

function sumOf(amounts: readonly number[]): number | undefined {
  const sum = new ExactSum();
  for (const amount of amounts) sum.add(amount);
  return sum.value;
}

describe('a sum', () => {
  test.each([
    [0.1, 0.2, 0.3],
    [1.005, 2.675, 3.68],
    [1e-7, 2.5e-7, 3.5e-7],
    [0.1, -0.1, 0],
    [123_456_789.25, 0.75, 123_456_790],
    [Number.MAX_SAFE_INTEGER, -1, Number.MAX_SAFE_INTEGER - 1],
    [5e20, -5e20, 0],
    [-0.3, 0.1, -0.2],
    [5e-324, 5e-324, 1e-323],
  ])('of %d and %d is %d', (a, b, sum) => {
    expect(addExact(a, b)).toBe(sum);
  });

  test.each([
    ['leaves the safe integers', Number.MAX_SAFE_INTEGER, 1],
    ['leaves them below', -Number.MAX_SAFE_INTEGER, -1],
    ['is a whole number beyond them, however few its digits', 1e21, 1e21],
    ['has 16 digits', 123_456_789_012_345, 0.1],
    ['spans more digits than a double has', 1e15, 1e-15],
    ['is so small that a double keeps fewer digits', 1e-310, 1.24e-322],
    ['is written with 17 digits', 0.300_000_000_000_000_04, 0],
  ])('that %s is no exact one', (_, a, b) => {
    expect(addExact(a, b)).toBeUndefined();
  });

  test('may pass through sums that are no exact ones', () => {
    expect(sumOf([Number.MAX_SAFE_INTEGER, 10, -20])).toBe(Number.MAX_SAFE_INTEGER - 10);
    expect(sumOf([1e15, 1e-15, -1e15])).toBe(1e-15);
  });

  test('does not depend on the order, and an amount taken out leaves nothing behind', () => {
    const amount = fc.oneof(
      fc.integer(),
      fc.integer({ min: -99_999, max: 99_999 }).map((n) => n / 1000),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(amount, fc.nat()), { minLength: 1 }), amount, (list, other) => {
        const amounts = list.map(([each]) => each);
        const ordered = list.toSorted(([, a], [, b]) => a - b).map(([each]) => each);
        expect(sumOf(ordered)).toBe(sumOf(amounts));
        expect(sumOf([other, ...amounts, -other])).toBe(sumOf(amounts));
      }),
    );
  });

  test('of thousandths is what whole numbers say', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -(10 ** 9), max: 10 ** 9 })), (thousandths) => {
        const total = thousandths.reduce((sum, each) => sum + each, 0);
        expect(sumOf(thousandths.map((each) => each / 1000))).toBe(total / 1000 + 0);
      }),
    );
  });
});
