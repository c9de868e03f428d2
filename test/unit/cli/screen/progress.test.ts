import { describe, expect, test } from 'vitest';
import { openProgress } from '../../../../src/cli/screen/progress.ts';
import type { Clock } from '../../../../src/runtime/clock.ts';
import { memoryTerminal } from '../../../support/memory-terminal.ts';

function clockAt(): { clock: Clock; pass: (ms: number) => void } {
  let ms = 0;
  const clock: Clock = {
    nowMs: () => ms,
    monotonicMs: () => ms,
    sleep: () => Promise.resolve(),
    yield: () => Promise.resolve(),
  };
  return { clock, pass: (more) => (ms += more) };
}

describe('progress', () => {
  test('without a terminal is a plain line now and then, with the rate since the last one', () => {
    const { terminal, error } = memoryTerminal();
    const { clock, pass } = clockAt();
    const progress = openProgress({ terminal, clock, verb: 'Appending', unit: 'lines' });
    progress.update(1_000, 10_000);
    pass(4_999);
    progress.update(2_000, 10_000);
    expect(error.text).toBe('');
    pass(1);
    progress.update(6_000, 10_000);
    pass(5_000);
    progress.update(6_500, undefined);
    progress.stop();
    expect(error.text).toBe('Appending: 60 % of 10000 lines, 1000/s\nAppending: 6500 lines, 100/s\n');
  });

  test('on a terminal is a bar, which is taken away at the end', () => {
    const { terminal, error, output } = memoryTerminal({ isTTY: true });
    const { clock, pass } = clockAt();
    const progress = openProgress({ terminal, clock, verb: 'Appending', unit: 'lines' });
    progress.update(0, 100);
    pass(1_000);
    progress.update(50, 100);
    progress.stop();
    terminal.writeError('after\n');
    expect(error.text).toMatch(/Appending .*50 % of 100 lines, 50\/s/);
    expect(error.text.endsWith('\rafter\n')).toBe(false);
    expect(output.text).toBe('');
  });

  test('that had nothing to show leaves nothing behind', () => {
    for (const isTTY of [true, false]) {
      const { terminal, error } = memoryTerminal({ isTTY });
      openProgress({ terminal, clock: clockAt().clock, verb: 'Appending', unit: 'lines' }).stop();
      expect(error.text).toBe('');
    }
  });
});
