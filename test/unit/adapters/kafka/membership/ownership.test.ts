import { describe, expect, test } from 'vitest';
import { Ownership } from '../../../../../src/adapters/kafka/membership/ownership.ts';

const p0 = { topic: 't', partition: 0 };
const p1 = { topic: 't', partition: 1 };

function member(...given: readonly (typeof p0)[]): Ownership {
  const ownership = new Ownership(1_000);
  ownership.join('m', given, 0);
  return ownership;
}

describe('what a member of a group owns', () => {
  test('is what it was given, until it is given something else', () => {
    const ownership = new Ownership(1_000);
    expect(ownership.owns(p0, 0)).toBe(false);
    expect(ownership.join('m', [p0], 0)).toEqual({ lost: [], assigned: [p0] });
    expect(ownership.join('m', [p1], 10)).toEqual({ lost: [p0], assigned: [p1] });
    expect([ownership.owns(p0, 10), ownership.owns(p1, 10)]).toEqual([false, true]);
    expect(ownership.join('m', [p1], 20)).toEqual({ lost: [], assigned: [] });
  });

  test('is lost and assigned anew with another member id, although it is the same', () => {
    expect(member(p0, p1).join('n', [p0, p1], 10)).toEqual({ lost: [p0, p1], assigned: [p0, p1] });
  });

  test('is not read once the group was silent for too long, and is lost as soon as that is noticed', () => {
    const ownership = member(p0);
    expect([ownership.owns(p0, 1_000), ownership.owns(p0, 1_001)]).toEqual([true, false]);
    expect(ownership.tick(1_000)).toBeUndefined();
    expect(ownership.tick(1_001)).toEqual({ lost: [p0], assigned: [] });
    expect(ownership.tick(1_002)).toBeUndefined();
    expect(ownership.owns(p0, 500)).toBe(false);
  });

  test('lasts from the sending of the last good heartbeat, not from its answer', () => {
    const ownership = member(p0);
    expect(ownership.silentAtMs).toBe(1_000);
    expect(ownership.beat('m', 700)).toBeUndefined();
    expect(ownership.beat('m', 600)).toBeUndefined();
    expect(ownership.silentAtMs).toBe(1_700);
    expect(ownership.owns(p0, 1_700)).toBe(true);
  });

  test('is assigned anew after a silence by a rejoin, or a heartbeat that is answered well', () => {
    const rejoined = member(p0);
    rejoined.tick(2_000);
    expect(rejoined.join('m', [p0], 2_000)).toEqual({ lost: [], assigned: [p0] });
    const heard = member(p0);
    heard.tick(2_000);
    expect([heard.silentAtMs, heard.isSilent]).toEqual([undefined, true]);
    expect(heard.beat('m', 2_000)).toEqual({ lost: [], assigned: [p0] });
    expect([heard.owns(p0, 2_500), heard.isSilent]).toEqual([true, false]);
  });

  test('is lost and assigned anew after a silence that nobody noticed', () => {
    expect(member(p0).beat('m', 1_500)).toEqual({ lost: [p0], assigned: [p0] });
  });

  test('is not kept up by heartbeats of another member', () => {
    const ownership = member(p0);
    expect(ownership.beat('another', 900)).toBeUndefined();
    expect(ownership.tick(1_001)).toEqual({ lost: [p0], assigned: [] });
  });

  test('is nothing once it has left', () => {
    const ownership = member(p0);
    expect(ownership.leave()).toEqual({ lost: [p0], assigned: [] });
    expect(ownership.leave()).toBeUndefined();
    expect([ownership.owns(p0, 0), ownership.silentAtMs]).toEqual([false, undefined]);
    expect(ownership.beat('m', 1)).toBeUndefined();
  });
});
