import { describe, expect, test } from 'vitest';
import { retryDelayMs } from '../../../src/failures/retry-schedule.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('The retries of a parked entry', () => {
  test('begin after a second, go on after three minutes, double, and stay at six hours', () => {
    const delays = Array.from({ length: 10 }, (_, index) => retryDelayMs(index + 1));
    expect(delays).toEqual([
      1_000,
      3 * MINUTE_MS,
      6 * MINUTE_MS,
      12 * MINUTE_MS,
      24 * MINUTE_MS,
      48 * MINUTE_MS,
      96 * MINUTE_MS,
      192 * MINUTE_MS,
      6 * HOUR_MS,
      6 * HOUR_MS,
    ]);
  });

  test('end after the tenth', () => {
    expect(retryDelayMs(11)).toBeUndefined();
    expect(retryDelayMs(1_000)).toBeUndefined();
  });
});
