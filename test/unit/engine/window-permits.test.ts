import { describe, expect, test } from 'vitest';
import { WindowPermits } from '../../../src/engine/window-permits.ts';

const never = new AbortController().signal;

/** Whether a promise has been settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  await Promise.resolve();
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

describe('permits for large windows', () => {
  test('are given at once while there are any, then in the order in which they were asked for', async () => {
    const permits = new WindowPermits(1);
    const first = await permits.acquire(never);
    const second = permits.acquire(never);
    const third = permits.acquire(never);
    expect([await isSettled(second), await isSettled(third)]).toEqual([false, false]);
    first?.release();
    expect([await isSettled(second), await isSettled(third)]).toEqual([true, false]);
    (await second)?.release();
    expect(await isSettled(third)).toBe(true);
  });

  test('count once, however often they are given back', async () => {
    const permits = new WindowPermits(1);
    const first = await permits.acquire(never);
    first?.release();
    first?.release();
    await permits.acquire(never);
    expect(await isSettled(permits.acquire(never))).toBe(false);
  });

  test('leave out who does not wait any more', async () => {
    const permits = new WindowPermits(1);
    const first = await permits.acquire(never);
    const given = new AbortController();
    const gone = permits.acquire(given.signal);
    const next = permits.acquire(never);
    given.abort();
    expect(await gone).toBeUndefined();
    first?.release();
    expect(await next).toBeDefined();
    expect(await permits.acquire(AbortSignal.abort())).toBeUndefined();
  });
});
