import { describe, expect, test } from 'vitest';
import { problemOfDocument } from '../../../../../src/adapters/mongo/read-models/document-check.ts';
import { rowBytesMax } from '../../../../../src/read-models/row-refusal.ts';

describe('a document that is looked at before it is sent', () => {
  test.each([
    ['plain values', { a: 1, b: [null, { c: new Date(0), d: 1n }], $set: 1, $ref: 'x' }],
    ['a reference that is none', { a: { $ref: 1, $id: 2 }, b: { $ref: 'x', $id: null } }],
  ])('is fine with %s', (_what, document) => {
    expect(problemOfDocument(document)).toBeUndefined();
  });

  test.each([
    ['a', { a: { _bsontype: 1 } }],
    ['a.1.b', { a: [0, { b: { $ref: 'x', $id: 0 } }] }],
    ['', { _bsontype: 'Long' }],
  ])('is refused where the driver would take a value for another: at %j', (path, document) => {
    expect(problemOfDocument(document)).toEqual({ kind: 'changed', path });
  });

  test('is measured exactly where it may be too large', () => {
    const sized = (length: number) => ({ a: 'x'.repeat(length) });
    // Length and end of the document, type and name and end of the name, length and end of the text.
    const around = 4 + 1 + 1 + 1 + 1 + 4 + 1;
    expect(problemOfDocument(sized(rowBytesMax - around))).toBeUndefined();
    expect(problemOfDocument(sized(rowBytesMax - around + 1))).toEqual({
      kind: 'too large',
      bytes: rowBytesMax + 1,
    });
    expect(problemOfDocument({ a: Array.from({ length: 2_000_000 }, () => 1) })).toMatchObject({ kind: 'too large' });
    expect(problemOfDocument({ ['n'.repeat(rowBytesMax)]: 1 })).toMatchObject({ kind: 'too large' });
  });
});
