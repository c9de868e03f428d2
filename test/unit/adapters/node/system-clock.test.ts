import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../../src/adapters/node/system-clock.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a sleep ends after its time and not before', async () => {
  let isOver = false;
  const sleep = systemClock.sleep(100).then(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(99);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await sleep;
});

test('a sleep longer than a timer can be is slept to its end', async () => {
  const days = 86_400_000;
  let isOver = false;
  const sleep = systemClock.sleep(60 * days).then(() => (isOver = true));
  await vi.advanceTimersByTimeAsync(59 * days);
  expect(isOver).toBe(false);
  await vi.advanceTimersByTimeAsync(days);
  await sleep;
});

test('an abort ends a sleep at once, leaves no timer, and an aborted signal lets none begin', async () => {
  const controller = new AbortController();
  const sleep = systemClock.sleep(1_000_000, controller.signal);
  expect(vi.getTimerCount()).toBe(1);
  controller.abort();
  await sleep;
  expect(vi.getTimerCount()).toBe(0);
  await systemClock.sleep(1_000_000, controller.signal);
  expect(vi.getTimerCount()).toBe(0);
});
