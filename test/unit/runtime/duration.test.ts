import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatDuration, parseDuration } from '../../../src/runtime/duration.ts';

test.each([
  ['30s', 30_000],
  ['20ms', 20],
  ['1h30m', 5_400_000],
  ['90m', 5_400_000],
  ['30d', 2_592_000_000],
  ['1d2h3m4s5ms', 93_784_005],
  ['0s', 0],
])('%s is %i ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', 's', '1.5s', '-1s', ' 1s', '1 s', '1S', '1m1h', '1s1s', '1w', '1', 'PT5M', `${'9'.repeat(20)}d`])(
  '%j is refused by name',
  (text) => {
    const attempt = () => parseDuration(text);
    expect(attempt).toThrow(expect.objectContaining({ code: 'DURATION_MALFORMED' }));
    expect(attempt).toThrow(JSON.stringify(text));
  },
);

test('a number without a unit is answered with the units it could have', () => {
  expect(() => parseDuration('500')).toThrow(expect.objectContaining({ hint: 'Say the unit: 500ms or 500s.' }));
});

test('any whole number of milliseconds survives formatting and parsing', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (ms) => {
      expect(parseDuration(formatDuration(ms))).toBe(ms);
    }),
  );
});

test('a duration is formatted with the units it needs, to the millisecond', () => {
  expect([0, 5, 1_000, 5_400_000, 93_784_005, 1.6].map(formatDuration)).toEqual([
    '0ms',
    '5ms',
    '1s',
    '1h30m',
    '1d2h3m4s5ms',
    '2ms',
  ]);
});

test('what is no span cannot be formatted', () => {
  expect(() => formatDuration(-1)).toThrow(expect.objectContaining({ code: 'ASSERTION_FAILED' }));
  expect(() => formatDuration(Number.NaN)).toThrow(expect.objectContaining({ code: 'ASSERTION_FAILED' }));
});
