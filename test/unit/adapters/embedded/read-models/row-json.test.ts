import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeRow, encodeRow } from '../../../../../src/adapters/embedded/read-models/row-json.ts';
import type { RowValue } from '../../../../../src/read-models/write.ts';

/** Canonical values: what the core lets through to a store. */
const name = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('$date', '$long', '$double', '$$date', '$', '$$', '__proto__', 'constructor', 'a.b', '', 'toJSON'),
);
const value = fc.letrec<{ any: unknown; object: RowValue }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('$date', '{"$date":"2026-01-01T00:00:00.000Z"}', 'NaN'),
    fc.double().map((number) => (number === 0 ? 0 : number)),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.date({ noInvalidDate: true }),
    fc.array(tie('any'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.array(fc.tuple(name, tie('any')), { maxLength: 5 }).map((members) => Object.fromEntries(members)),
})).object;

describe('a row as JSON', () => {
  test('is exactly the row again when it is read', () => {
    // vitest's own comparison looks at `constructor`, which is a name like others here.
    const isSame = fc.property(value, (row) => isDeepStrictEqual(decodeRow(encodeRow(row)), row));
    expect(() => fc.assert(isSame)).not.toThrow();
  });

  test('tells two different rows apart', () => {
    const rows: readonly RowValue[] = [
      { at: new Date(0) },
      { at: { $date: '1970-01-01T00:00:00.000Z' } },
      { at: { $$date: '1970-01-01T00:00:00.000Z' } },
      { at: '1970-01-01T00:00:00.000Z' },
      { at: 1n },
      { at: 1 },
      { at: '1' },
      { at: { $long: '1' } },
      { at: Number.NaN },
      { at: 'NaN' },
      { at: { $double: 'NaN' } },
      { at: null },
    ];
    expect(new Set(rows.map(encodeRow)).size).toBe(rows.length);
    for (const row of rows) expect(decodeRow(encodeRow(row))).toStrictEqual(row);
  });

  test('of plain values is plain JSON, so that SQL reads it', () => {
    const row = { id: 'O-1', total: 12.5, tags: ['a', null, true], nested: { 'a.b': { c: 1 } } };
    expect(encodeRow(row)).toBe(JSON.stringify(row));
  });

  test('gives members of any name their own place and touches no prototype', () => {
    const row = JSON.parse('{"__proto__":{"$x":1},"constructor":2}') as RowValue;
    const read = decodeRow(encodeRow(row));
    expect(Object.getOwnPropertyNames(read)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(read, '__proto__')?.value).toEqual({ $x: 1 });
  });

  test('takes no value that is not canonical', () => {
    for (const wrong of [undefined, () => 1, Symbol('s')]) {
      expect(() => encodeRow({ wrong })).toThrow('rows are canonical');
    }
  });
});
