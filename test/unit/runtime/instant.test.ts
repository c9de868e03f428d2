import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatInstant, InstantMalformedError, parseInstant } from '../../../src/runtime/instant.ts';

const firstOfYear0 = Date.UTC(2000, 0, 1) - 730_485 * 86_400_000;
const lastOfYear9999 = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const fourDigitYears = fc.integer({ min: firstOfYear0, max: lastOfYear9999 });

test('every instant of four-digit years survives formatting and parsing', () => {
  fc.assert(
    fc.property(fourDigitYears, (ms) => {
      expect(parseInstant(formatInstant(ms))).toBe(ms);
    }),
  );
});

test('formatting agrees with Date over its whole range', () => {
  fc.assert(
    fc.property(fc.integer({ min: -8.64e15, max: 8.64e15 }), (ms) => {
      expect(formatInstant(ms)).toBe(new Date(ms).toISOString().replace('.000Z', 'Z'));
    }),
    { numRuns: 1_000 },
  );
});

test.each([1900, 2000, 2100])('every day of the eight years around %i agrees with Date', (year) => {
  const wrong: string[] = [];
  for (let ms = Date.UTC(year - 4, 0, 1); ms < Date.UTC(year + 4, 0, 2); ms += 86_400_000) {
    const text = new Date(ms).toISOString();
    if (parseInstant(text) !== ms || formatInstant(ms) !== text.replace('.000', '')) wrong.push(text);
  }
  expect(wrong).toEqual([]);
});

test('parsing agrees with Date, whatever the offset and the parts left out', () => {
  const two = (max: number) => fc.nat({ max }).map((n) => String(n).padStart(2, '0'));
  const time = fc.oneof(
    fc.tuple(two(23), two(59)).map((parts) => parts.join(':')),
    fc.tuple(two(23), two(59), two(59)).map((parts) => parts.join(':')),
    fc
      .tuple(two(23), two(59), two(59), fc.nat({ max: 999 }))
      .map(([h, m, s, n]) => `${h}:${m}:${s}.${String(n).padStart(3, '0')}`),
  );
  const zone = fc.oneof(
    fc.constant('Z'),
    fc.tuple(fc.constantFrom('+', '-'), two(23), two(59)).map(([sign, h, m]) => `${sign}${h}:${m}`),
  );
  fc.assert(
    fc.property(fourDigitYears, time, zone, (day, timeText, zoneText) => {
      const text = `${new Date(day).toISOString().slice(0, 10)}T${timeText}${zoneText}`;
      expect(parseInstant(text)).toBe(Date.parse(text));
    }),
    { numRuns: 1_000 },
  );
});

test('a date is taken exactly if the calendar has it', () => {
  const parts = fc.tuple(fc.nat({ max: 9999 }), fc.nat({ max: 13 }), fc.nat({ max: 32 }));
  fc.assert(
    fc.property(parts, ([year, month, day]) => {
      const date = [String(year).padStart(4, '0'), String(month).padStart(2, '0'), String(day).padStart(2, '0')].join(
        '-',
      );
      expect({ date, ms: midnightOf(date) }).toEqual({ date, ms: midnightByDate(date) });
    }),
    { numRuns: 500 },
  );
});

function midnightOf(date: string): number | undefined {
  try {
    return parseInstant(`${date}T00:00:00Z`);
  } catch (error) {
    if (error instanceof InstantMalformedError) return undefined;
    throw error;
  }
}

/** `Date` takes the 31st of every month for a day. */
function midnightByDate(date: string): number | undefined {
  const ms = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date) ? ms : undefined;
}

test('a part of a millisecond rounds up', () => {
  const whole = Date.UTC(2026, 10, 1);
  expect(parseInstant('2026-11-01T00:00:00.000000001Z')).toBe(whole + 1);
  expect(parseInstant('2026-11-01T00:00:00.001000000Z')).toBe(whole + 1);
  expect(parseInstant('2026-11-01T00:00:00.5Z')).toBe(whole + 500);
  expect(parseInstant('2026-11-01T00:00:00.9999Z')).toBe(whole + 1_000);
});

test.each([
  [
    '2026-11-01T01:30:00',
    'Write 2026-11-01T01:30:00Z if it is in UTC, or add the offset, for example 2026-11-01T01:30:00+02:00.',
  ],
  ['2026-11-01', 'Write the time and the zone too, for example 2026-11-01T00:00:00Z.'],
])('%s is refused with a hint, since it means another instant on every machine', (text, hint) => {
  expect(() => parseInstant(text)).toThrow(expect.objectContaining({ code: 'INSTANT_MALFORMED', hint }));
});

test.each([
  '',
  'now',
  '1764547200000',
  '2026-11-01 01:30:00Z',
  '2026-11-01t01:30:00z',
  '2026-11-01T01Z',
  '20261101T013000Z',

  '2026-11-01T24:00:00Z',
  '2026-11-01T00:60:00Z',
  '2026-11-01T00:00:60Z',
  '2026-02-29T00:00:00Z',
  '1900-02-29T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-01T00:00:00Z',
  '2026-01-00T00:00:00Z',
  '2026-11-01T00:00:00+24:00',
  '2026-11-01T00:00:00+00:60',
  '2026-11-01T00:00:00+0200',
  '2026-11-01T00:00:00.Z',
  '+002026-11-01T00:00:00Z',
  'Sun Nov 01 2026 01:30:00 GMT+0200',
  '2026-11-01T01:30:00Z[Europe/Berlin]',
  '2026-11-01T01:30:00Z\n',
])('%j is refused by name', (text) => {
  const attempt = () => parseInstant(text);
  expect(attempt).toThrow(expect.objectContaining({ code: 'INSTANT_MALFORMED' }));
  expect(attempt).toThrow(JSON.stringify(text));
});

test('an instant that is no whole number cannot be formatted', () => {
  expect(() => formatInstant(0.5)).toThrow(expect.objectContaining({ code: 'ASSERTION_FAILED' }));
});
