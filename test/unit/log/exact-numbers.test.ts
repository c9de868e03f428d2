import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseExact } from '../../../src/log/exact-numbers.ts';

const digits = (constraints: { readonly minLength: number; readonly maxLength: number }) =>
  fc.string({ unit: fc.nat({ max: 9 }).map(String), ...constraints });

/** Every spelling JSON has for a number. */
const numberText = fc
  .record({
    sign: fc.constantFrom('', '-'),
    integer: digits({ minLength: 1, maxLength: 40 }).map((text) => text.replace(/^0+(?=.)/, '')),
    fraction: fc.option(digits({ minLength: 1, maxLength: 40 }), { nil: undefined }),
    exponent: fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-'), digits({ minLength: 1, maxLength: 3 })), {
      nil: undefined,
    }),
  })
  .map(
    ({ sign, integer, fraction, exponent }) =>
      `${sign}${integer}${fraction === undefined ? '' : `.${fraction}`}${exponent?.join('') ?? ''}`,
  );

test.each([
  ['7', 7],
  ['0', 0],
  ['-9007199254740991', -9007199254740991],
  ['9007199254740992', 9007199254740992n],
  ['9223372036854775807', 9223372036854775807n],
  ['-123456789012345678901234567890', -123456789012345678901234567890n],
  ['10.00', '10.00'],
  ['1E+30', '1E+30'],
  ['4.9E-324', '4.9E-324'],
  ['-0', '-0'],
  ['-0.0', '-0.0'],
  ['1e0', '1e0'],
  ['1E400', '1E400'],
])('the number %s is read as %o', (text, value) => {
  expect(parseExact(text)).toBe(value);
  expect(parseExact(`{"a":[ ${text} ,${text}]}`)).toEqual({ a: [value, value] });
});

test('every number is a value whose text is the one that was read, wherever it stands', () => {
  fc.assert(
    fc.property(numberText, fc.constantFrom('', ' ', '\n\t'), (text, space) => {
      expect(String(parseExact(text))).toBe(text);
      expect(parseExact(`[${space}${text}${space}]`)).toEqual([parseExact(text)]);
      expect(parseExact(`{"a":${space}${text}${space}}`)).toEqual({ a: parseExact(text) });
      expect(parseExact(`[0,${space}${text}]`)).toEqual([0, parseExact(text)]);
    }),
    { numRuns: 500 },
  );
});

test('what holds no number reads as JSON does', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const text = JSON.stringify(value, (_key, member: unknown) => (typeof member === 'number' ? null : member));
      expect(parseExact(text)).toEqual(JSON.parse(text));
    }),
  );
});

test('a number in a text stays in the text', () => {
  expect(parseExact('{"a":"x: 1.50, -0","b":1}')).toEqual({ a: 'x: 1.50, -0', b: 1 });
});

test('members called __proto__ are read like others', () => {
  const value = parseExact('{"__proto__":{"a":1.50}}');
  expect(Object.entries(value as object)).toEqual([['__proto__', { a: '1.50' }]]);
});

test('of a repeated member the last counts', () => {
  expect(parseExact('{"a":1.0,"a":2.00}')).toEqual({ a: '2.00' });
  expect(parseExact('{"a":{"b":1.0},"a":2.00}')).toEqual({ a: '2.00' });
});

test('an integer of more than ten thousand digits stays text', () => {
  expect(typeof parseExact('9'.repeat(10_000))).toBe('bigint');
  expect(parseExact('9'.repeat(10_001))).toBe('9'.repeat(10_001));
});
