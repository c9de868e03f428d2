import { describe, expect, test } from 'vitest';
import { modelProblems, readModel } from '../../../src/read-models/read-model.ts';

type Summary = { readonly buyerId: string; readonly total: number; readonly units: number; readonly updatedAt: number };

describe('a read model', () => {
  test('has rows by default, of one aggregate each', () => {
    const model = readModel<Summary>('order_summary', {
      indexes: [
        { buyerId: 1, updatedAt: -1 },
        { fields: { total: 1 }, unique: true },
      ],
    });
    expect(model.shape).toEqual({
      name: 'order_summary',
      kind: 'rows',
      primary: undefined,
      indexes: [
        { fields: { buyerId: 1, updatedAt: -1 }, isUnique: false },
        { fields: { total: 1 }, isUnique: true },
      ],
    });
    expect(Object.keys(model)).toEqual(['shape', 'put', 'remove']);
    expect(model.remove(['t', 'a/b'])).toEqual({ kind: 'remove', model: model.shape, id: 't/a%2Fb' });
  });

  test('keeps the order of an index', () => {
    const { shape } = readModel<Summary>('m', { indexes: [{ updatedAt: -1, buyerId: 1 }] });
    expect(shape.indexes.map(({ fields }) => Object.keys(fields))).toEqual([['updatedAt', 'buyerId']]);
  });

  test('may have fields that are called as an option is', () => {
    const { shape } = readModel('m', { indexes: [{ fields: 1, unique: -1 }] });
    expect(shape.indexes).toEqual([{ fields: { fields: 1, unique: -1 }, isUnique: false }]);
  });

  test('may let rows move', () => {
    const model = readModel<Summary>('m', { moves: true });
    expect(model.shape.kind).toBe('moves');
    expect(Object.keys(model)).toEqual(['shape', 'put', 'remove']);
  });

  test('may be joined of parts', () => {
    const model = readModel<Summary>('m', { kind: 'joined', primary: { name: 'eshop.order' } });
    expect(model.shape).toMatchObject({ kind: 'joined', primary: 'eshop.order' });
    expect(Object.keys(model)).toEqual(['shape', 'part', 'remove']);
    expect(model.part('1', { total: 2 })).toEqual({ kind: 'part', model: model.shape, id: '1', fields: { total: 2 } });
  });

  test('may hold totals', () => {
    const model = readModel<Summary>('m', { kind: 'totals' });
    expect(model.shape.kind).toBe('totals');
    expect(Object.keys(model)).toEqual(['shape', 'contribute', 'add']);
    expect(model.contribute('1', { total: 2 })).toMatchObject({ kind: 'contribute', id: '1', amounts: { total: 2 } });
    expect(model.add('1', { units: 1 })).toMatchObject({ kind: 'add', id: '1', amounts: { units: 1 } });
  });
});

describe('the problems of a definition', () => {
  test.each(['order_summary', 'a', 'a0_', 'tm', 'a'.repeat(63)])('are none for the name %s', (name) => {
    expect(modelProblems(readModel(name))).toEqual([]);
  });

  test.each(['', 'Order', '0a', '_a', 'a-b', 'a.b', 'a'.repeat(64), 'a\n', 'ä'])('name the name %j', (name) => {
    expect(modelProblems(readModel(name))).toEqual([
      `Read model ${JSON.stringify(name)}: a name starts with a-z and holds at most 63 of a-z, 0-9 and _.`,
    ]);
  });

  test('name a reserved prefix', () => {
    expect(modelProblems(readModel('tm_rows'))).toEqual([expect.stringContaining('names that start with tm_')]);
  });

  test('name a kind that there is not, and what a joined model lacks', () => {
    // As one may write without types.
    const untyped = (options: object) => modelProblems(readModel('m', options));
    expect(untyped({ kind: 'sums' })).toEqual([
      'Read model "m": there is no kind "sums"; there are rows, joined and totals.',
    ]);
    for (const options of [{}, { primary: undefined }, { primary: 'shop.order' }, { primary: {} }]) {
      expect(untyped({ kind: 'joined', ...options })).toEqual([
        expect.stringContaining('a joined model names its primary aggregate'),
      ]);
    }
  });

  test('are all listed at once', () => {
    const direction: unknown = 2;
    const model = readModel('M', {
      indexes: [{}, { 'a..b': 1, $set: 1 }, { a: direction as 1 }, { b: 1 }, { fields: { b: 1 }, unique: true }],
    });
    expect(modelProblems(model).map((problem) => problem.replace('Read model "M"', ''))).toEqual([
      ': a name starts with a-z and holds at most 63 of a-z, 0-9 and _.',
      ', index 0: it names no field.',
      ', index 1: "a..b" is no field path.',
      ', index 1: "$set" is no field path.',
      ', index 2: the direction of "a" is neither 1 nor -1.',
      ', index 4: the same fields as an index before it.',
    ]);
  });
});
