import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatSize, parseSize } from '../../../src/runtime/size.ts';

test.each([
  ['0B', 0],
  ['100B', 100],
  ['64KiB', 65_536],
  ['8MiB', 8_388_608],
  ['2GiB', 2_147_483_648],
  ['1TiB', 1_099_511_627_776],
])('%s is %i bytes', (text, bytes) => {
  expect(parseSize(text)).toBe(bytes);
  expect(formatSize(bytes)).toBe(text);
});

test.each(['', 'MiB', '1.5MiB', '-1B', '8 MiB', '8MB', '8mib', '8', '1MiB1KiB', '99999999TiB'])(
  '%j is refused by name',
  (text) => {
    const attempt = () => parseSize(text);
    expect(attempt).toThrow(expect.objectContaining({ code: 'SIZE_MALFORMED' }));
    expect(attempt).toThrow(JSON.stringify(text));
  },
);

test('a number without a unit is answered with the units it could have', () => {
  expect(() => parseSize('500')).toThrow(expect.objectContaining({ hint: 'Say the unit: 500B, 500KiB or 500MiB.' }));
});

test('any number of bytes survives formatting and parsing', () => {
  const bytes = fc.oneof(
    fc.maxSafeNat(),
    fc.nat({ max: 2 ** 20 }).map((n) => n * 2 ** 20),
  );
  fc.assert(
    fc.property(bytes, (n) => {
      expect(parseSize(formatSize(n))).toBe(n);
    }),
  );
});
