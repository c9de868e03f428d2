import { expect, test } from 'vitest';
import { LATE, within } from '../../../src/runtime/within.ts';
import { VirtualClock } from '../../../src/testing/world/virtual-clock.ts';

test('work that is over in time gives its result or its error, and leaves no timer', async () => {
  const clock = new VirtualClock();
  expect(await clock.runUntil(within(1_000, Promise.resolve('done'), clock))).toBe('done');
  const failing = within(1_000, Promise.reject(new Error('broken')), clock);
  await expect(clock.runUntil(failing)).rejects.toThrow('broken');
  expect(clock.monotonicMs()).toBe(0);
});

test('work that takes longer is late, and may fail afterwards', async () => {
  const clock = new VirtualClock();
  const work = clock.sleep(2_000).then(() => {
    throw new Error('too late to matter');
  });
  expect(await clock.runUntil(within(1_000, work, clock))).toBe(LATE);
  expect(clock.monotonicMs()).toBe(1_000);
  // An uncaught rejection would fail the test run.
  await clock.advance(5_000);
});
