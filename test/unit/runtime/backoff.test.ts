import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffMs } from '../../../src/runtime/backoff.ts';

const always = (value: number) => ({ next: () => value });
const nearlyOne = 1 - Number.EPSILON / 2;

test('the bound doubles with each attempt up to the largest', () => {
  const bounds = [1, 2, 3, 4, 5, 6].map((attempt) =>
    backoffMs({ initialMs: 1_000, maxMs: 10_000, attempt }, always(nearlyOne)),
  );
  expect(bounds).toEqual([1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
});

test('chance decides between nothing and the bound', () => {
  const backoff = { initialMs: 1_000, maxMs: 30_000, attempt: 1 };
  expect([0, 0.5, nearlyOne].map((value) => backoffMs(backoff, always(value)))).toEqual([0, 500, 1_000]);
});

test('a wait is whole, not negative and never above the largest, however many attempts', () => {
  const wait = fc.double({ min: 0, max: 1e9, noNaN: true });
  const backoff = fc.record({ initialMs: wait, maxMs: wait, attempt: fc.integer({ min: 1, max: 1_000_000 }) });
  const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(backoff, chance, (value, chosen) => {
      const ms = backoffMs(value, always(chosen));
      expect(Number.isSafeInteger(ms)).toBe(true);
      expect(ms).toBeGreaterThanOrEqual(0);
      expect(ms).toBeLessThanOrEqual(value.maxMs);
    }),
  );
});

test('an initial wait of nothing stays nothing', () => {
  expect(backoffMs({ initialMs: 0, maxMs: 10, attempt: 5_000 }, always(nearlyOne))).toBe(0);
});
