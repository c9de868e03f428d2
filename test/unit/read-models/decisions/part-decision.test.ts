import { describe, expect, test } from 'vitest';
import { joined } from '../../../support/handled-history.ts';
import { readModelCase } from '../../../support/read-model-case.ts';
import { membersOf } from '../../../support/reference-read-model.ts';

const order = 'eshop.order/t/1';
const payment = 'eshop.payment/t/1';
const other = 'eshop.order/t/2';

describe('a joined row', () => {
  test('is seen while the part of its primary is live, whatever came first', () => {
    const { window, visible } = readModelCase(joined);
    window({ ref: payment, version: 1, calls: [joined.part('r', { paid: 5 })] });
    expect(visible(joined)).toEqual({});
    window({ ref: order, version: 1, calls: [joined.part('r', { status: 'new' })] });
    expect(visible(joined)).toEqual({ r: { paid: 5, status: 'new' } });
    window({ ref: order, version: 2, calls: [joined.remove('r')] });
    expect(visible(joined)).toEqual({});
    window({ ref: order, version: 3, calls: [joined.part('r', { status: 'back' })] });
    expect(visible(joined)).toEqual({ r: { paid: 5, status: 'back' } });
  });

  test('loses the part of another, and stays', () => {
    const { window, visible } = readModelCase(joined);
    window(
      { ref: order, version: 1, calls: [joined.part('r', { status: 'new' })] },
      { ref: payment, version: 1, calls: [joined.part('r', { paid: 5 })] },
    );
    window({ ref: payment, version: 2, calls: [joined.remove('r')] });
    expect(visible(joined)).toEqual({ r: { status: 'new' } });
  });

  test('has one part per source, in place of the one before, each with a guard of its own', () => {
    const { window, visible } = readModelCase(joined);
    window({ ref: order, version: 5, calls: [joined.part('r', { a: 5, b: 5 })] });
    window({ ref: payment, version: 1, calls: [joined.part('r', { c: 1 })] });
    window({ ref: order, version: 4, calls: [joined.part('r', { a: 4 })] });
    expect(visible(joined)).toEqual({ r: { a: 5, b: 5, c: 1 } });
    window({ ref: order, version: 6, calls: [joined.part('r', { a: 6 })] });
    expect(visible(joined)).toEqual({ r: { a: 6, c: 1 } });
    window({ ref: order, version: 7, calls: [joined.remove('r')] });
    window({ ref: order, version: 6, calls: [joined.part('r', { a: 6 })] });
    expect(visible(joined)).toEqual({});
  });

  test('whose part was removed before it came stays without it', () => {
    const { window, visible } = readModelCase(joined);
    window({ ref: order, version: 2, calls: [joined.remove('r')] });
    window({ ref: order, version: 1, calls: [joined.part('r', { a: 1 })] });
    expect(visible(joined)).toEqual({});
  });

  test('is refused to a second aggregate of one name, also after a removal', () => {
    const { window } = readModelCase(joined);
    window({ ref: order, version: 1, calls: [joined.part('r', { a: 1 })] });
    const foreign = `ROW_FOREIGN: Row "r" of joined belongs to ${order}; ${other} cannot write it`;
    expect(window({ ref: other, version: 9, calls: [joined.part('r', { a: 2 })] })).toEqual([foreign]);
    expect(window({ ref: other, version: 9, calls: [joined.remove('r')] })).toEqual([foreign]);
    window({ ref: order, version: 2, calls: [joined.remove('r')] });
    expect(window({ ref: other, version: 9, calls: [joined.part('r', { a: 2 })] })).toEqual([foreign]);
  });

  test('refuses a field that another part has, naming it and both, until that part lets it go', () => {
    const { window, visible } = readModelCase(joined);
    window({ ref: order, version: 1, calls: [joined.part('r', { a: 1, 'b.c': 1 })] });
    const paid = { ref: payment, version: 1, calls: [joined.part('r', { 'b.c': 2 })] };
    expect(window(paid)).toEqual([
      `FIELD_OVERLAP: Row "r" of joined has the field "b.c" from eshop.order (${order}) and from eshop.payment (${payment})`,
    ]);
    window({ ref: order, version: 2, calls: [joined.part('r', { a: 1 })] });
    expect(window(paid)).toEqual([]);
    expect(visible(joined)).toEqual({ r: { a: 1, 'b.c': 2 } });
  });

  test('refuses an overlap of two parts that come in one window', () => {
    const { window } = readModelCase(joined);
    const refused = window(
      { ref: order, version: 1, calls: [joined.part('r', { a: 1 })] },
      { ref: payment, version: 1, calls: [joined.part('r', { a: 2 })] },
    );
    expect(refused).toHaveLength(1);
  });

  test('keeps fields and aggregates of any name as data', () => {
    const { window, row, visible } = readModelCase(joined);
    const fields: Record<string, unknown> = Object.fromEntries([
      ['__proto__', 1],
      ['a.b', 2],
      ['', 4],
      ['$set', 3],
    ]);
    window({ ref: order, version: 1, calls: [joined.part('r', fields)] });
    window({ ref: '__proto__/t/1', version: 1, calls: [joined.part('r', { toString: 5 })] });
    expect(membersOf(visible(joined)['r'])).toEqual([
      ['', 4],
      ['$set', 3],
      ['__proto__', 1],
      ['a.b', 2],
      ['toString', 5],
    ]);
    const guard = row(joined, 'r')?.guard;
    expect(guard?.kind === 'parts' && Object.keys(guard.parts)).toEqual(['__proto__', 'eshop.order']);
    window({ ref: '__proto__/t/1', version: 2, calls: [joined.remove('r')] });
    window({ ref: order, version: 2, calls: [joined.part('r', { a: 1 })] });
    expect(visible(joined)).toEqual({ r: { a: 1 } });
  });
});
