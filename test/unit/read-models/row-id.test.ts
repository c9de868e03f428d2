import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodePart } from '../../../src/log/identity-part.ts';
import { rowId } from '../../../src/read-models/row-id.ts';

test('an array of any Unicode parts can be read back from its id', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }), (parts) => {
      expect(rowId(parts).split('/').map(decodePart)).toEqual(parts);
    }),
  );
});

test('a text is the id itself', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(rowId(text)).toBe(text);
    }),
  );
});

test('a separator inside a part keeps two arrays apart', () => {
  expect(rowId(['a/b', 'c'])).toBe('a%2Fb/c');
  expect(rowId(['a', 'b/c'])).toBe('a/b%2Fc');
  expect(rowId([''])).not.toBe(rowId(['', '']));
});

test('a text can spell what an array gives', () => {
  expect(rowId('a/b')).toBe(rowId(['a', 'b']));
});

test('lone surrogates are refused in both forms', () => {
  expect(() => rowId('\ud800')).toThrow(expect.objectContaining({ code: 'TEXT_ILL_FORMED' }));
  expect(() => rowId(['a', 'b\udfff'])).toThrow(expect.objectContaining({ code: 'TEXT_ILL_FORMED' }));
});

test('an empty array is refused', () => {
  expect(() => rowId([])).toThrow(expect.objectContaining({ code: 'ROW_ID_INVALID' }));
});

test('what is no text is refused with its place and type', () => {
  const untyped = rowId as (id: unknown) => string;
  expect(() => untyped(undefined)).toThrow('id is of type undefined');
  expect(() => untyped(['a', 7])).toThrow('id[1] is of type number');
  expect(() => untyped(['a', null])).toThrow('id[1] is null');
  // A hole in an array is no part either.
  expect(() => untyped(Object.assign([], { 1: 'a' }))).toThrow('id[0] is of type undefined');
});
