import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodePart, encodeName, encodePart, IllFormedTextError } from '../../../src/log/identity-part.ts';

const anyText = fc.string({ unit: 'binary' });

test('any Unicode text survives encoding and decoding, as a part and as a name', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(decodePart(encodePart(text))).toBe(text);
      expect(decodePart(encodeName(text))).toBe(text);
    }),
  );
});

test('an encoded part holds no separator and no control character', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(encodePart(text)).not.toMatch(/[/@:\p{Cc}]/u);
      expect(encodeName(text)).not.toMatch(/[./@:\p{Cc}]/u);
    }),
  );
});

test('only what must be encoded is encoded', () => {
  expect(encodePart('Bestellung 7.ä🙂~+"(0)')).toBe('Bestellung 7.ä🙂~+"(0)');
  expect(encodePart('%/@:')).toBe('%25%2F%40%3A');
  expect(encodePart('\u0000\u001f\u007f\u0080')).toBe('%00%1F%7F%C2%80');
  expect(encodeName('a.b')).toBe('a%2Eb');
});

test.each(['\ud800', 'a\udc00b', '\ude00\ud83d'])('the ill-formed text %j is refused by name', (text) => {
  const attempt = () => encodePart(text);
  expect(attempt).toThrow(IllFormedTextError);
  expect(attempt).toThrow(JSON.stringify(text));
});

test('broken percent-encoding is told apart from text', () => {
  expect(decodePart('100%')).toBeUndefined();
  expect(decodePart('%ff')).toBeUndefined();
});
