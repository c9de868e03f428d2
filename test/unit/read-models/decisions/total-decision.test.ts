import { describe, expect, test } from 'vitest';
import { added, type CommitOf, contributed } from '../../../support/handled-history.ts';
import { readModelCase } from '../../../support/read-model-case.ts';
import { membersOf } from '../../../support/reference-read-model.ts';

const order = (id: number): string => `eshop.order/t/${id}`;

function contributes(
  id: number,
  version: number,
  sums: Readonly<Record<string, Readonly<Record<string, number>>>>,
): CommitOf {
  return {
    ref: order(id),
    version,
    calls: [Object.entries(sums).map(([row, amounts]) => contributed.contribute(row, amounts))],
  };
}

describe('totals that aggregates contribute to', () => {
  test('are the sum of what each contributes now', () => {
    const { window, visible } = readModelCase(contributed);
    window(
      contributes(1, 1, { buyer: { orders: 1, amount: 0.1 } }),
      contributes(2, 1, { buyer: { orders: 1, amount: 0.2 } }),
    );
    expect(visible(contributed)).toEqual({ buyer: { amount: 0.3, orders: 2 } });
    window(contributes(1, 2, { buyer: { orders: 1, amount: 5 } }));
    expect(visible(contributed)).toEqual({ buyer: { amount: 5.2, orders: 2 } });
  });

  test('move with the aggregate, and a row without contributors is gone', () => {
    const { window, visible, row } = readModelCase(contributed);
    window(contributes(1, 1, { a: { n: 1 } }), contributes(2, 1, { a: { n: 2 } }));
    window(contributes(1, 2, { b: { n: 1 } }));
    expect(visible(contributed)).toEqual({ a: { n: 2 }, b: { n: 1 } });
    window(contributes(2, 2, {}), contributes(1, 3, { c: { n: 0 } }));
    expect(visible(contributed)).toEqual({ c: { n: 0 } });
    expect(row(contributed, 'a')).toBeUndefined();
  });

  test('keep a row whose contributors add nothing', () => {
    const { window, visible } = readModelCase(contributed);
    window(contributes(1, 1, { a: {} }), contributes(2, 1, { a: { n: 1 } }));
    window(contributes(2, 2, {}));
    expect(visible(contributed)).toEqual({ a: {} });
  });

  test('have a field as long as a contributor names it', () => {
    const { window, visible, row } = readModelCase(contributed);
    window(contributes(1, 1, { a: { n: 1, m: 0 } }), contributes(2, 1, { a: { n: 1 } }));
    expect(visible(contributed)).toEqual({ a: { m: 0, n: 2 } });
    expect(row(contributed, 'a')?.guard).toEqual({ kind: 'contributors', contributors: 2, fields: { m: 1 } });
    window(contributes(1, 2, { a: { n: 1 } }));
    expect(visible(contributed)).toEqual({ a: { n: 2 } });
    expect(row(contributed, 'a')?.guard).toEqual({ kind: 'contributors', contributors: 2, fields: {} });
  });

  test('do not write a row to which nothing new is contributed', () => {
    const { window, store } = readModelCase(contributed);
    window(contributes(1, 1, { a: { n: 1 } }));
    const before = store.row(contributed.shape, 'a');
    window(contributes(1, 2, { a: { n: 1 } }));
    expect(store.row(contributed.shape, 'a')).toBe(before);
  });

  test('do not tell in which order one row was handed over', () => {
    const commits = [
      contributes(1, 1, { x: { n: 1 } }),
      contributes(1, 2, { y: { n: 2 } }),
      contributes(2, 1, { y: { n: 4, m: 1 } }),
      contributes(2, 2, { x: { n: 8 } }),
    ];
    const expected = { x: { n: 8 }, y: { n: 2 } };
    for (const sequence of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [2, 0, 3, 1],
      [1, 3, 0, 2],
    ]) {
      const oneByOne = readModelCase(contributed);
      for (const nth of sequence) oneByOne.window(...commits.slice(nth, nth + 1));
      expect(oneByOne.visible(contributed)).toEqual(expected);
      const inPairs = readModelCase(contributed);
      for (const pair of [sequence.slice(0, 2), sequence.slice(2)])
        inPairs.window(...pair.flatMap((nth) => commits[nth] ?? []));
      expect(inPairs.visible(contributed)).toEqual(expected);
    }
  });

  test('keep ids, fields and models of any name as data', () => {
    const { window, visible } = readModelCase(contributed);
    const amounts = Object.fromEntries([
      ['__proto__', 1],
      ['$inc', 2],
      ['a.b', 3],
      ['constructor', 4],
    ]);
    const own = Object.fromEntries([
      ['__proto__', amounts],
      ['a/b', amounts],
    ]);
    window(contributes(1, 1, own), contributes(2, 1, own));
    window(contributes(2, 2, {}));
    for (const id of ['__proto__', 'a/b']) {
      const value = Object.entries(visible(contributed)).find(([each]) => each === id)?.[1];
      expect(membersOf(value)).toEqual([
        ['$inc', 2],
        ['__proto__', 1],
        ['a.b', 3],
        ['constructor', 4],
      ]);
    }
  });

  test('are exact for one row of very many aggregates', () => {
    const { window, visible } = readModelCase(contributed);
    const all = Array.from({ length: 900 }, (_, id) => contributes(id, 1, { buyer: { amount: 0.07, orders: 1 } }));
    window(...all.slice(0, 400));
    window(...all.slice(200));
    expect(visible(contributed)).toEqual({ buyer: { amount: 63, orders: 900 } });
    window(...all.slice(1).map(({ ref }) => ({ ref, version: 2, calls: [undefined] })));
    expect(visible(contributed)).toEqual({ buyer: { amount: 0.07, orders: 1 } });
  });
});

describe('totals that events add to', () => {
  test('sum every event of every version', () => {
    const { window, visible } = readModelCase(added);
    const add = (n: number): ReturnType<typeof added.add> => added.add('r', { n });
    window({ ref: order(1), version: 1, calls: [add(1), add(2)] }, { ref: order(1), version: 2, calls: [add(4)] });
    window({ ref: order(2), version: 1, calls: [add(0.5)] });
    expect(visible(added)).toEqual({ r: { n: 7.5 } });
  });

  test('keep a row and its fields at zero', () => {
    const { window, visible } = readModelCase(added);
    window({ ref: order(1), version: 1, calls: [added.add('r', { n: 1 })] });
    window({ ref: order(1), version: 2, calls: [added.add('r', { n: -1 })] });
    expect(visible(added)).toEqual({ r: { n: 0 } });
  });
});

describe('refused are', () => {
  test('both an addition and a contribution to one row', () => {
    const { window, refusals, visible } = readModelCase(contributed);
    window(contributes(1, 1, { r: { n: 1 } }));
    const adds = { ref: order(2), version: 1, calls: [contributed.add('r', { n: 1 })] };
    expect(refusals(adds)).toEqual([
      {
        ref: order(2),
        model: 'contributed',
        id: 'r',
        code: 'TOTALS_MIXED',
        message: 'Row "r" of contributed is both added and contributed to',
        isRecoverable: false,
      },
    ]);
    const fresh = readModelCase(contributed);
    expect(fresh.refusals(contributes(1, 1, { r: { n: 1 } }), adds).map(({ ref }) => ref)).toEqual([
      order(1),
      order(2),
    ]);
    fresh.window(adds);
    expect(fresh.refusals(contributes(1, 1, { r: { n: 1 } })).map(({ ref }) => ref)).toEqual([order(1)]);
    expect(visible(contributed)).toEqual({ r: { n: 1 } });
  });

  test('totals that a double does not keep exactly, to those who change the field', () => {
    const { window, refusals, visible } = readModelCase(contributed);
    window(contributes(1, 1, { r: { n: Number.MAX_SAFE_INTEGER, m: 1 } }));
    expect(refusals(contributes(2, 1, { r: { n: 1 } }), contributes(3, 1, { r: { m: 1 } }))).toEqual([
      {
        ref: order(2),
        model: 'contributed',
        id: 'r',
        code: 'TOTAL_INEXACT',
        message: 'Row "r" of contributed: the total of "n" is beyond the safe integers or 15 digits',
        isRecoverable: false,
      },
    ]);
    // Together with what takes it back it stands.
    expect(window(contributes(2, 1, { r: { n: 1 } }), contributes(3, 1, { r: { n: -1 } }))).toEqual([]);
    expect(visible(contributed)).toEqual({ r: { m: 1, n: Number.MAX_SAFE_INTEGER } });
  });
});
