import { expect, test } from 'vitest';
import { Deadline } from '../../../../../src/adapters/mongo/server/deadline.ts';
import { UnavailableError } from '../../../../../src/runtime/errors.ts';
import { VirtualClock } from '../../../../../src/testing/world/virtual-clock.ts';

/** Draws the longest waits. */
const random = { next: () => 0.999 };

test('an operation that ends in time gives its result', async () => {
  const deadline = new Deadline({ clock: new VirtualClock(), random }, 1_000, 'a test');
  expect(await deadline.bound(Promise.resolve(7))).toBe(7);
});

test('an operation that hangs is given up on at the deadline, and its late failure is nobody’s', async () => {
  const clock = new VirtualClock();
  const deadline = new Deadline({ clock, random }, 1_000, 'writing for a test');
  const hanging = Promise.withResolvers<void>();
  const outcome = deadline.bound(hanging.promise).catch((error: unknown) => error);
  await clock.advance(999);
  expect(deadline.leftMs).toBe(1);
  await clock.advance(1);
  expect(await outcome).toMatchObject({ code: 'UNAVAILABLE', details: { what: 'writing for a test' } });
  hanging.reject(new Error('late'));
  expect(deadline.leftMs).toBe(0);
  await expect(deadline.bound(hanging.promise)).rejects.toThrow(Error);
});

test('an operation that fails in time fails as it does', async () => {
  const deadline = new Deadline({ clock: new VirtualClock(), random }, 1_000, 'a test');
  const failure = new RangeError('no');
  await expect(deadline.bound(Promise.reject(failure))).rejects.toBe(failure);
});

test('a wait ends with the deadline at the latest', async () => {
  const clock = new VirtualClock();
  const deadline = new Deadline({ clock, random }, 100, 'a test');
  await clock.runUntil(deadline.backOff(20));
  expect(clock.monotonicMs()).toBe(100);
  expect(deadline.error()).toBeInstanceOf(UnavailableError);
});
