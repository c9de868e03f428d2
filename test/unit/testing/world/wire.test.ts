import { describe, expect, test } from 'vitest';
import { UnavailableError } from '../../../../src/runtime/errors.ts';
import { type Fate, noFaults } from '../../../../src/testing/world/faults.ts';
import { VirtualClock } from '../../../../src/testing/world/virtual-clock.ts';
import { Wire } from '../../../../src/testing/world/wire.ts';

function wired(fate: Fate = 'delivered', outlivesSender = false) {
  const clock = new VirtualClock();
  const faults = {
    ...noFaults,
    delayMs: () => 10,
    fate: () => fate,
    lateMs: () => 1_000,
    outlivesSender: () => outlivesSender,
  };
  const down = { is: false };
  const wire = new Wire({ clock, faults, note: () => undefined, isDown: () => down.is });
  let done = 0;
  const call = () => wire.call('readModels.commit', async () => (done += 1));
  return { clock, wire, call, down, done: () => done };
}

describe('A call over a wire', () => {
  test('is done once and answered, after both ways', async () => {
    const { clock, call, done } = wired();
    expect(await clock.runUntil(call())).toBe(1);
    expect(done()).toBe(1);
    expect(clock.monotonicMs()).toBe(20);
  });

  test.each<[Fate, number, number]>([
    ['request lost', 0, 0],
    ['reply lost', 1, 1],
    ['late', 0, 1],
  ])('whose fate is %s fails; done %i times then and %i in the end', async (fate, then, inTheEnd) => {
    const { clock, call, done } = wired(fate);
    await expect(clock.runUntil(call())).rejects.toThrow(UnavailableError);
    expect(done()).toBe(then);
    await clock.advance(2_000);
    expect(done()).toBe(inTheEnd);
  });

  test('fails while the other side is down', async () => {
    const { clock, call, down, done } = wired();
    down.is = true;
    await expect(clock.runUntil(call())).rejects.toThrow(UnavailableError);
    down.is = false;
    await clock.runUntil(call());
    expect(done()).toBe(1);
  });

  test.each([
    [true, 1],
    [false, 0],
  ])(
    'of a process that is gone is never answered, and done if it outlives its sender (%s)',
    async (outlives, times) => {
      const { clock, wire, call, done } = wired('delivered', outlives);
      let isAnswered = false;
      void call().then(() => (isAnswered = true));
      wire.cut();
      await clock.advance(10_000);
      expect([isAnswered, done()]).toEqual([false, times]);
    },
  );
});
