import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLongerThan, wellFormedText } from '../../../src/log/record-text.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);

test('any Unicode text is read from its UTF-8 as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(wellFormedText(bytesOf(text))).toBe(text);
      expect(wellFormedText(text)).toBe(text);
    }),
  );
});

test('a byte order mark is part of the text', () => {
  expect(wellFormedText(bytesOf('\ufeffa'))).toBe('\ufeffa');
});

test.each([[[0xff]], [[0xc3]], [[0xed, 0xa0, 0x80]], [[0xc0, 0x80]]])('the bytes %j are no text', (bytes) => {
  expect(wellFormedText(Uint8Array.from(bytes))).toBeUndefined();
});

test('a string with a lone surrogate is no well-formed text', () => {
  expect(wellFormedText('a\ud800')).toBeUndefined();
});

test('the length of a string is that of its UTF-8', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: -3, max: 3 }), (text, difference) => {
      const bytes = bytesOf(text);
      const bytesMax = bytes.length + difference;
      expect(isLongerThan(bytesMax, text)).toBe(bytes.length > bytesMax);
      expect(isLongerThan(bytesMax, bytes)).toBe(bytes.length > bytesMax);
    }),
  );
});
