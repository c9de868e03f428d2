import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultStart, formatStart, originOf, parseStart, type Start } from '../../../src/subscriptions/start.ts';

test('beginning, end and an instant with its zone are starts', () => {
  expect(parseStart('beginning')).toEqual({ kind: 'beginning' });
  expect(parseStart('end')).toEqual({ kind: 'end' });
  expect(parseStart('2026-11-01T01:30:00+02:00')).toEqual({
    kind: 'instant',
    instantMs: Date.UTC(2026, 9, 31, 23, 30),
  });
});

test('one instant is one start, in whichever zone it is written', () => {
  expect(parseStart('2026-11-01T01:30:00-04:00')).toEqual(parseStart('2026-11-01T05:30:00Z'));
});

test.each(['2026-11-01T01:30:00', '2026-11-01', '2026-11-01T01:30'])(
  'the instant %s is refused without a zone',
  (text) => {
    expect(() => parseStart(text)).toThrow(expect.objectContaining({ code: 'INSTANT_MALFORMED' }));
  },
);

test('every start survives formatting and parsing', () => {
  const start: fc.Arbitrary<Start> = fc.oneof(
    fc.constant<Start>({ kind: 'beginning' }),
    fc.constant<Start>({ kind: 'end' }),
    fc.nat({ max: 4e12 }).map((instantMs): Start => ({ kind: 'instant', instantMs })),
  );
  fc.assert(
    fc.property(start, (value) => {
      expect(parseStart(formatStart(value))).toEqual(value);
    }),
  );
});

test('a projection and the keeper begin at the beginning, a reactor at the end of its own context', () => {
  expect(defaultStart('projection', false)).toEqual({ kind: 'beginning' });
  expect(defaultStart('projection', true)).toEqual({ kind: 'beginning' });
  expect(defaultStart('keeper', false)).toEqual({ kind: 'beginning' });
  expect(defaultStart('reactor', false)).toEqual({ kind: 'end' });
  expect(defaultStart('reactor', true)).toEqual({ kind: 'beginning' });
});

test('status shows a start with who chose it', () => {
  expect(originOf({ kind: 'end' }, 'reactor default')).toBe('start: end (reactor default)');
  expect(originOf(parseStart('2026-11-01T00:00:00Z'), 'config')).toBe('start: 2026-11-01T00:00:00Z (config)');
  expect(originOf({ kind: 'beginning' }, 'code')).toBe('start: beginning (code)');
});
