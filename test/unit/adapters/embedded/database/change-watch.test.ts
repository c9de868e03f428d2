import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ChangeWatch } from '../../../../../src/adapters/embedded/database/change-watch.ts';

const never = new AbortController().signal;

/**
 * A watch on a file whose version a test sets, and how often it was asked for. It has seen the version once: the very
 * first look cannot tell whether something is new, and wakes everybody.
 */
async function watched() {
  const file = { version: 1, asked: 0 };
  const watch = new ChangeWatch(() => {
    file.asked += 1;
    return file.version;
  });
  await Promise.all([watch.wait('first', 1, never), vi.advanceTimersByTimeAsync(1)]);
  file.asked = 0;
  return { file, watch };
}

function settling(promise: Promise<void>): { isOver: boolean } {
  const state = { isOver: false };
  void (async () => {
    await promise;
    state.isOver = true;
  })();
  return state;
}

describe('waiting for a change', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  test('ends when something changes under the key, and not under another', async () => {
    const { watch } = await watched();
    const mine = settling(watch.wait('mine', 60_000, never));
    const other = settling(watch.wait('other', 60_000, never));
    await vi.advanceTimersByTimeAsync(200);
    watch.changed(['mine']);
    await vi.advanceTimersByTimeAsync(0);
    expect([mine.isOver, other.isOver]).toEqual([true, false]);
    watch.close();
  });

  test('ends where the file cannot be looked at: whoever waits meets the error himself', async () => {
    let isBroken = false;
    const watch = new ChangeWatch(() => {
      if (isBroken) throw new Error('disk I/O error');
      return 1;
    });
    await Promise.all([watch.wait('first', 1, never), vi.advanceTimersByTimeAsync(1)]);
    const wait = settling(watch.wait('a', 60_000, never));
    await vi.advanceTimersByTimeAsync(500);
    expect(wait.isOver).toBe(false);
    isBroken = true;
    await vi.advanceTimersByTimeAsync(50);
    expect(wait.isOver).toBe(true);
    watch.close();
  });

  test('ends soon after another process wrote', async () => {
    const { file, watch } = await watched();
    const waits = ['a', 'b'].map((key) => settling(watch.wait(key, 60_000, never)));
    await vi.advanceTimersByTimeAsync(500);
    expect(waits.map(({ isOver }) => isOver)).toEqual([false, false]);
    file.version += 1;
    await vi.advanceTimersByTimeAsync(50);
    expect(waits.every(({ isOver }) => isOver)).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('ends when its time is over, to the millisecond', async () => {
    const { watch } = await watched();
    const [long, short] = [settling(watch.wait('a', 130, never)), settling(watch.wait('a', 20, never))];
    await vi.advanceTimersByTimeAsync(19);
    expect(short.isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect([short.isOver, long.isOver]).toEqual([true, false]);
    await vi.advanceTimersByTimeAsync(110);
    expect(long.isOver).toBe(true);
  });

  test('ends on abort and on close, and never begins after them', async () => {
    const { file, watch } = await watched();
    const aborting = new AbortController();
    const aborted = settling(watch.wait('a', 60_000, aborting.signal));
    const closed = settling(watch.wait('b', 60_000, never));
    aborting.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect([aborted.isOver, closed.isOver]).toEqual([true, false]);
    watch.close();
    await vi.advanceTimersByTimeAsync(0);
    expect(closed.isOver).toBe(true);
    await watch.wait('a', 60_000, aborting.signal);
    await watch.wait('a', 60_000, never);
    expect([vi.getTimerCount(), file.asked]).toEqual([0, 0]);
  });

  test('wakes everybody at the first look, which cannot tell what is new', async () => {
    const watch = new ChangeWatch(() => 1);
    const wait = settling(watch.wait('a', 60_000, never));
    await vi.advanceTimersByTimeAsync(50);
    expect(wait.isOver).toBe(true);
  });

  test('notices what another process wrote while nobody waited', async () => {
    const { file, watch } = await watched();
    file.version += 1;
    const wait = settling(watch.wait('a', 60_000, never));
    await vi.advanceTimersByTimeAsync(50);
    expect(wait.isOver).toBe(true);
  });

  test('asks for the version with one timer for all, and not at all while nobody waits', async () => {
    const { file, watch } = await watched();
    const aborting = new AbortController();
    const waits = ['a', 'b', 'c'].map((key) => settling(watch.wait(key, 60_000, aborting.signal)));
    expect(vi.getTimerCount()).toBe(1);
    const before = file.asked;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(file.asked - before).toBe(20);
    aborting.abort();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([file.asked - before, vi.getTimerCount()]).toEqual([20, 0]);
    expect(waits.every(({ isOver }) => isOver)).toBe(true);
  });
});
