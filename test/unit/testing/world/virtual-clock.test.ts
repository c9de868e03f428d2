import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../../src/testing/seeded-random.ts';
import { VirtualClock } from '../../../../src/testing/world/virtual-clock.ts';

describe('A virtual clock', () => {
  test('lets nothing happen by itself', async () => {
    const clock = new VirtualClock();
    let isOver = false;
    void clock.sleep(1).then(() => (isOver = true));
    await new Promise(setImmediate);
    expect(isOver).toBe(false);
    await clock.advance(1);
    expect(isOver).toBe(true);
    expect(clock.monotonicMs()).toBe(1);
  });

  test('wakes sleepers in the order of their times, and runs what follows before the next one', async () => {
    const clock = new VirtualClock();
    const woken: string[] = [];
    const sleeper = async (name: string, ms: number): Promise<void> => {
      await clock.sleep(ms);
      woken.push(`${name} at ${clock.monotonicMs()}`);
      await Promise.resolve();
      woken.push(`${name} goes on`);
    };
    await clock.runUntil(Promise.all([sleeper('slow', 20), sleeper('fast', 10)]));
    expect(woken).toEqual(['fast at 10', 'fast goes on', 'slow at 20', 'slow goes on']);
  });

  test('ends a sleep at once on abort, and forgets its timer', async () => {
    const clock = new VirtualClock();
    const stopping = new AbortController();
    const sleeping = clock.sleep(10_000, stopping.signal);
    stopping.abort();
    await sleeping;
    await clock.sleep(10_000, stopping.signal);
    expect(clock.monotonicMs()).toBe(0);
    await expect(clock.runUntil(new Promise(() => undefined))).rejects.toThrow('of virtual time');
  });

  test('says when something takes too long, or can never happen', async () => {
    const clock = new VirtualClock();
    await expect(clock.runUntil(clock.sleep(5_000), 4_000)).rejects.toThrow('4000 ms of virtual time');
    await expect(clock.runUntil(new Promise(() => undefined))).rejects.toThrow('of virtual time');
  });

  test('notices what goes round without letting time pass', async () => {
    const clock = new VirtualClock();
    const going = new AbortController();
    const circle = async (): Promise<void> => {
      while (!going.signal.aborted) await clock.yield();
    };
    const round = circle();
    await expect(clock.advance(1)).rejects.toThrow('Time stands still at 0 ms');
    going.abort();
    void round;
  });

  test('gives what the promise gives, failures too', async () => {
    const clock = new VirtualClock();
    expect(await clock.runUntil(clock.sleep(7).then(() => 'done'))).toBe('done');
    const failing = clock.sleep(7).then(() => Promise.reject(new Error('no')));
    await expect(clock.runUntil(failing)).rejects.toThrow('no');
  });

  test('decides between timers of one instant by the seed', async () => {
    const orderOf = async (seed: number): Promise<string> => {
      const clock = new VirtualClock({ random: seededRandom(seed) });
      const woken: number[] = [];
      const sleepers = Array.from({ length: 8 }, (_, index) => clock.sleep(5).then(() => woken.push(index)));
      await clock.runUntil(Promise.all(sleepers));
      return woken.join('');
    };
    const orders = new Set(await Promise.all([1, 2, 3, 4, 5].map(orderOf)));
    expect(orders.size).toBeGreaterThan(1);
    expect(await orderOf(1)).toBe(await orderOf(1));
  });

  test('may have its wall clock set, and time passes all the same', async () => {
    const clock = new VirtualClock({ startMs: 1_000 });
    clock.jump(-500);
    expect(clock.nowMs()).toBe(500);
    await clock.advance(10);
    expect([clock.nowMs(), clock.monotonicMs()]).toEqual([510, 10]);
  });
});
