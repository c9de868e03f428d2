import { describe, expect, test } from 'vitest';
import { EVENT_INDEX_STATE } from '../../../src/read-models/guard.ts';
import { handlerCall } from '../../../src/read-models/handler-call.ts';
import type { ModelShape } from '../../../src/read-models/model-shape.ts';
import { readModel } from '../../../src/read-models/read-model.ts';
import { TidemarkError } from '../../../src/runtime/errors.ts';
import { added, contributed, joined, moving, plain } from '../../support/handled-history.ts';

const models: readonly ModelShape[] = [plain, moving, joined, contributed, added].map(({ shape }) => shape);

function refusedWith(result: unknown): { readonly code: string; readonly message: string } {
  try {
    handlerCall(0, result, models);
  } catch (error) {
    if (error instanceof TidemarkError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error('the result was taken');
}

describe('what a handler may return', () => {
  test('is nothing', () => {
    expect(handlerCall(3, undefined, models)).toEqual({ eventIndex: 3, writes: [] });
    expect(handlerCall(3, [], models)).toEqual({ eventIndex: 3, writes: [] });
  });

  test('is one write, whose row is a copy of what the handler has', () => {
    const row = { a: 1 };
    const { eventIndex, writes } = handlerCall(EVENT_INDEX_STATE, plain.put(['t', '1'], row), models);
    expect(eventIndex).toBe(EVENT_INDEX_STATE);
    expect(writes).toEqual([{ kind: 'put', model: plain.shape, id: 't/1', row: { a: 1 } }]);
    expect(writes[0]?.kind === 'put' && writes[0].row).not.toBe(row);
  });

  test('is an array of writes to declared models, made canonical', () => {
    const result = [
      plain.put('1', { a: -0, b: undefined }),
      plain.remove('2'),
      joined.part('1', { c: -0 }),
      contributed.contribute('1', { n: -0 }),
      added.add('1', { n: 2 }),
    ];
    expect(handlerCall(0, result, models).writes).toStrictEqual([
      { kind: 'put', model: plain.shape, id: '1', row: { a: 0 } },
      { kind: 'remove', model: plain.shape, id: '2' },
      { kind: 'part', model: joined.shape, id: '1', fields: { c: 0 } },
      { kind: 'contribute', model: contributed.shape, id: '1', amounts: { n: 0 } },
      { kind: 'add', model: added.shape, id: '1', amounts: { n: 2 } },
    ]);
  });

  test('is a write of a model that was loaded twice: the declared one is meant', () => {
    const twin = readModel<{ a: number }>('plain');
    expect(handlerCall(0, twin.put('1', { a: 1 }), models).writes[0]?.model).toBe(plain.shape);
  });
});

describe('refused is', () => {
  test.each([
    ['a promise', Promise.resolve(), 'What a handler returned is a Promise, not a write'],
    ['null', null, 'What a handler returned is null, not a write'],
    ['a number', 5, 'What a handler returned is a number, not a write'],
    ['an object that is no write', { a: 1 }, 'What a handler returned is an object, not a write'],
    ['a function', () => 1, 'What a handler returned is a function, not a write'],
    [
      'undefined in an array',
      [plain.remove('1'), undefined],
      'Place 1 of what a handler returned is undefined, not a write',
    ],
    ['a hole in an array', Array(1), 'Place 0 of what a handler returned is undefined, not a write'],
    ['a promise in an array', [Promise.resolve()], 'Place 0 of what a handler returned is a Promise, not a write'],
    ['an array in an array', [[plain.remove('1')]], 'Place 0 of what a handler returned is an array, not a write'],
    [
      'a write of another kind',
      { kind: 'add', model: plain.shape, id: '1', amounts: {} },
      'What a handler returned is no write of a model of kind rows',
    ],
  ])('%s', (_, result, message) => {
    expect(refusedWith(result)).toEqual({ code: 'HANDLER_RESULT_INVALID', message });
  });

  test('a write to a model that the function does not name', () => {
    const other = readModel<{ a: number }>('other');
    expect(refusedWith([other.put('1', { a: 1 })])).toEqual({
      code: 'MODEL_NOT_DECLARED',
      message: 'A handler wrote to other, which its function does not name',
    });
  });

  test('a row that no store can hold, by its name', () => {
    expect(refusedWith(plain.put('O-1', { list: [undefined] }))).toEqual({
      code: 'ROW_INVALID',
      message: 'Row "O-1" of plain cannot be stored: list[0] is undefined',
    });
    expect(refusedWith(joined.part('O-1', { at: new Date(Number.NaN) })).code).toBe('ROW_INVALID');
    expect(refusedWith(added.add('O-1', { n: Number.NaN })).message).toBe(
      'Row "O-1" of added cannot be stored: n is not a finite number',
    );
  });

  test.each([
    ['put after its removal', [plain.remove('1'), plain.put('1', { a: 1 })]],
    ['put twice', [moving.put('1', { a: 1 }), moving.put('1', { a: 1 })]],
    ['added to twice', [added.add('1', { n: 1 }), added.add('1', { n: 1 })]],
    ['added and contributed to', [added.add('1', { n: 1 }), added.contribute('1', { n: 1 })]],
  ])('a row %s in one call', (_, result) => {
    const { code, message } = refusedWith(result);
    expect(code).toBe('ROW_WRITTEN_TWICE');
    expect(message).toMatch(/^A handler wrote twice to row "1" of \w+ in one call$/);
  });

  test('both adding and contributing to one model in one call', () => {
    expect(refusedWith([added.add('1', { n: 1 }), added.contribute('2', { n: 1 })]).code).toBe('TOTALS_MIXED');
  });

  test('no second model of the same call, and no second row of the same model', () => {
    const writes = [
      plain.remove('1'),
      plain.remove('2'),
      moving.put('1', {}),
      added.add('1', {}),
      contributed.contribute('1', {}),
    ];
    expect(handlerCall(0, writes, models).writes).toHaveLength(5);
  });
});

test('a promise that rejects is refused like any other, and its rejection ends nothing', async () => {
  // An uncaught rejection would fail the test run.
  const late = async () => {
    throw new Error('late');
  };
  expect(() => handlerCall(0, late(), [])).toThrow('What a handler returned is a Promise');
  expect(() => handlerCall(0, [late()], [])).toThrow('Place 0 of what a handler returned is a Promise');
  await new Promise((resolve) => setImmediate(resolve));
});
