import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { amountsOf, canonicalRow, RowInvalidError } from '../../../src/read-models/canonical-row.ts';

function problemOf(value: unknown): string {
  const outcome = outcomeOf(value);
  if (!(outcome instanceof RowInvalidError)) return 'none';
  return `${outcome.code} ${outcome.message}`.replace('ROW_INVALID The row cannot be stored: ', '');
}

function nested(levels: number): unknown {
  let value: unknown = {};
  for (let level = 1; level < levels; level += 1) value = { in: value };
  return value;
}

describe('a row', () => {
  test('that is canonical stays as it is, with all that stores can hold', () => {
    const row = {
      text: 'jürgen 注文 😀',
      none: null,
      list: [1, 'a', { deep: [Number.NaN, Number.POSITIVE_INFINITY] }],
      big: 2n ** 63n - 1n,
      at: new Date(8.64e15),
      'a.b': 1,
      $set: 2,
      '': 3,
      isOpen: false,
    };
    expect(canonicalRow(row)).toEqual(row);
    expect(canonicalRow(Object.freeze({ list: Object.freeze([0]) }))).toEqual({ list: [0] });
  });

  test('without a prototype is a plain object', () => {
    const row: unknown = Object.assign(Object.create(null), { a: 1 });
    expect(canonicalRow(row)).toEqual({ a: 1 });
  });

  test('is a copy: what its handler changes later does not change it', () => {
    const inner = { n: 1 };
    const list = [1, inner];
    const at = new Date(0);
    const canonical = canonicalRow({ inner, list, at });
    inner.n = 2;
    list.push(3);
    at.setTime(5);
    expect(canonical).toEqual({ inner: { n: 1 }, list: [1, { n: 1 }], at: new Date(0) });
  });

  test('takes no part of methods that arrays and dates have of their own', () => {
    const broken = () => {
      throw new Error('it should not be called');
    };
    const own = { toJSON: broken, toBSON: broken, map: broken, every: broken, toISOString: broken, getTime: broken };
    const canonical = canonicalRow({ list: Object.assign([1], own), at: Object.assign(new Date(0), own) });
    expect(JSON.stringify(canonical)).toBe('{"list":[1],"at":"1970-01-01T00:00:00.000Z"}');
  });

  test('loses its undefined members, at every depth, and no others', () => {
    const row = { a: undefined, b: 1, in: { c: undefined, d: [{ e: undefined, f: 2 }] } };
    const canonical = canonicalRow(row);
    expect(Object.keys(canonical)).toEqual(['b', 'in']);
    expect(JSON.stringify(canonical)).toBe('{"b":1,"in":{"d":[{"f":2}]}}');
    expect(row).toHaveProperty('a');
  });

  test('has 0 where it had -0', () => {
    const canonical = canonicalRow({ a: -0, list: [1, -0], in: { b: -0, c: 5 } });
    expect(canonical).toEqual({ a: 0, list: [1, 0], in: { b: 0, c: 5 } });
  });

  test('keeps an own member called __proto__ as data, also where it is copied', () => {
    const row: unknown = JSON.parse('{"__proto__": {"x": 1}, "a": -0}');
    for (const each of [row, { in: row, b: undefined }]) {
      const canonical = canonicalRow(each);
      const holder: unknown = 'in' in canonical ? canonical['in'] : canonical;
      expect(Object.getPrototypeOf(holder)).toBe(Object.prototype);
      expect(JSON.stringify(holder)).toBe('{"__proto__":{"x":1},"a":0}');
    }
  });

  test('has its own members only', () => {
    const inherited = { value: 1, enumerable: true, configurable: true };
    Reflect.defineProperty(Object.prototype, 'everywhere', inherited);
    const canonical = outcomeOf({ a: -0, b: 1 });
    Reflect.deleteProperty(Object.prototype, 'everywhere');
    expect(JSON.stringify(canonical)).toBe('{"a":0,"b":1}');
  });

  test('may be 150 levels deep', () => {
    const row = nested(150);
    expect(canonicalRow(row)).toEqual(row);
    expect(problemOf(nested(151))).toMatch(/^in\.in.* lies more than 150 levels deep$/);
  });
});

describe('a row that no store can hold is refused with the path of', () => {
  const own: { self?: unknown } = {};
  own.self = [own];
  const sparse: unknown[] = [];
  sparse[1] = 1;

  test.each([
    ['undefined in an array', { list: [1, undefined] }, 'list[1] is undefined'],
    ['a hole in an array', { sparse }, 'sparse[0] is undefined'],
    ['an invalid date', { list: [1, 2, { at: new Date(Number.NaN) }] }, 'list[2].at is an invalid date'],
    ['a bigint beyond int64', { 'a.b': 2n ** 63n }, '["a.b"] is a bigint beyond 64 bits'],
    ['a bigint below int64', { n: -(2n ** 63n) - 1n }, 'n is a bigint beyond 64 bits'],
    ['a function', { toJSON: () => 1 }, 'toJSON is a function'],
    ['a symbol', { in: { s: Symbol('s') } }, 'in.s is a symbol'],
    ['a Set', { tags: new Set([1]) }, 'tags is a Set, not a plain object'],
    ['a Map', { map: new Map() }, 'map is a Map, not a plain object'],
    ['an object of a class', { at: new URL('https://example.org') }, 'at is a URL, not a plain object'],
    ['a boxed text', { text: Object('a') as unknown }, 'text is a String, not a plain object'],
    ['bytes', { bytes: new Uint8Array(1) }, 'bytes is a Uint8Array, not a plain object'],
    ['a lone surrogate in a text', { text: 'a\ud800' }, 'text holds a lone surrogate'],
    ['a lone surrogate in a name', { 'a\ud800': 1 }, '["a\\ud800"] has a name with a lone surrogate or a NUL'],
    ['a NUL in a name', { in: { 'a\0': 1 } }, 'in["a\\u0000"] has a name with a lone surrogate or a NUL'],
    ['a cycle', own, 'self[0] holds itself'],
  ])('%s', (_, row, problem) => {
    expect(problemOf(row)).toBe(problem);
  });

  test.each([
    ['an array', [1], 'it is an array, not a plain object'],
    ['nothing', undefined, 'it is undefined, not a plain object'],
    ['null', null, 'it is null, not a plain object'],
    ['a text', 'row', 'it is a string, not a plain object'],
    ['a date', new Date(0), 'it is a Date, not a plain object'],
  ])('the row itself if it is %s', (_, row, problem) => {
    expect(problemOf(row)).toBe(problem);
  });
});

test('a refusal names the row it is for', () => {
  const name = { model: { name: 'order_summary' }, id: 'O-1' };
  expect(() => canonicalRow({ a: [undefined] }, name)).toThrow(
    'Row "O-1" of order_summary cannot be stored: a[0] is undefined',
  );
});

test('any JSON is canonical but for -0, and what is canonical stays as it is', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (row) => {
      const canonical = canonicalRow(row);
      expect(JSON.stringify(canonical)).toBe(JSON.stringify(row));
      expect(canonicalRow(canonical)).toStrictEqual(canonical);
    }),
  );
});

test('whatever a row holds, it comes out canonical or is refused', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withSparseArray: true,
  });
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), anything), (row) => {
      const once = outcomeOf(row);
      const isRefused = once instanceof RowInvalidError && !once.message.includes('changes when it is read');
      expect(isRefused || isDeepStrictEqual(outcomeOf(once), once)).toBe(true);
    }),
  );
});

function outcomeOf(row: unknown): unknown {
  try {
    return canonicalRow(row);
  } catch (error) {
    return error;
  }
}

describe('amounts', () => {
  test('are finite numbers, with 0 for -0', () => {
    const amounts = { a: 1.5, $set: 2, 'a.b': -3 };
    expect(amountsOf(amounts)).toEqual(amounts);
    expect(amountsOf({ a: -0, b: 1 })).toEqual({ a: 0, b: 1 });
    expect(amountsOf({})).toEqual({});
  });

  test.each([
    [{ a: Number.NaN }, 'a is not a finite number'],
    [{ a: 1, b: Number.POSITIVE_INFINITY }, 'b is not a finite number'],
    [{ a: '1' }, 'a is not a finite number'],
    [{ a: 1n }, 'a is not a finite number'],
    [{ a: undefined }, 'a is not a finite number'],
    [{ a: { b: 1 } }, 'a is not a finite number'],
    [{ 'a\0': 1 }, '["a\\u0000"] has a name with a lone surrogate or a NUL'],
    [[1], 'it is an array, not a plain object'],
    [undefined, 'it is undefined, not a plain object'],
  ])('%o are refused: %s', (amounts, problem) => {
    expect(() => amountsOf(amounts)).toThrow(`The row cannot be stored: ${problem}`);
  });
});
