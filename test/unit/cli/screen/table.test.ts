import { expect, test } from 'vitest';
import { formatTable } from '../../../../src/cli/screen/table.ts';

test('a table shows values as text, missing ones as nothing, and has no colour codes', () => {
  const table = formatTable(
    ['a', 'b'],
    [
      ['x', 5],
      [undefined, { n: 1n }],
    ],
  );
  expect(table.split('\n')).toEqual([
    '┌───┬─────────┐',
    '│ a │ b       │',
    '├───┼─────────┤',
    '│ x │ 5       │',
    '│   │ {"n":1} │',
    '└───┴─────────┘',
  ]);
  expect(table).not.toContain('\u001B');
});

test('a table cuts long cells, and lets no control character through', () => {
  const table = formatTable(['a'], [['y'.repeat(500)], ['evil\u001B[2J\nline']]);
  expect(table).toContain('y…');
  expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThan(70);
  expect(table).toContain('evil [2J line');
});
