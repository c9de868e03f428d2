import { describe, expect, test } from 'vitest';
import { decideRelease, decideRow } from '../../../../src/read-models/decisions/row-decision.ts';
import type { CommitOf } from '../../../support/handled-history.ts';
import { contributed, moving, plain, refKey } from '../../../support/handled-history.ts';
import { readModelCase } from '../../../support/read-model-case.ts';

const a = 'eshop.order/a/1';
const b = 'eshop.order/b/1';

describe('a row of one aggregate', () => {
  test('is put, replaced and taken away by newer versions, not by older or equal ones', () => {
    const { window, visible, row } = readModelCase(plain);
    window({ ref: a, version: 2, calls: [plain.put('r', { n: 2 })] });
    window({ ref: a, version: 1, calls: [plain.put('r', { n: 1 })] });
    expect(visible(plain)).toEqual({ r: { n: 2 } });
    window({ ref: a, version: 3, calls: [plain.put('r', { n: 3 })] });
    expect(visible(plain)).toEqual({ r: { n: 3 } });
    window({ ref: a, version: 4, calls: [plain.remove('r')] });
    window({ ref: a, version: 3, calls: [plain.put('r', { n: 3 })] });
    expect(visible(plain)).toEqual({});
    expect(row(plain, 'r')).toMatchObject({
      id: 'r',
      isLive: false,
      value: {},
      guard: { kind: 'owner', owner: a, version: 4, eventIndex: 0 },
    });
    window({ ref: a, version: 5, calls: [plain.put('r', { n: 5 })] });
    expect(visible(plain)).toEqual({ r: { n: 5 } });
  });

  test('is what the last event of a commit that writes it says', () => {
    const { window, visible } = readModelCase(plain);
    window({ ref: a, version: 1, calls: [plain.put('r', { n: 1 }), plain.put('r', { n: 2 }), undefined] });
    expect(visible(plain)).toEqual({ r: { n: 2 } });
  });

  test('that was removed before it was put stays removed', () => {
    const { window, visible } = readModelCase(plain);
    window({ ref: a, version: 2, calls: [plain.remove('r')] });
    window({ ref: a, version: 1, calls: [plain.put('r', { n: 1 })] });
    expect(visible(plain)).toEqual({});
  });

  test.each(['put', 'remove'] as const)('is not written again by the same version after a %s', (kind) => {
    const write = kind === 'put' ? plain.put('r', { n: 1 }) : plain.remove('r');
    if (write.kind !== 'put' && write.kind !== 'remove') throw new Error('a model of rows puts and removes');
    const guarded = { ref: refKey(a), aggregate: 'eshop.order', version: 7, eventIndex: 1, write };
    const first = decideRow(undefined, guarded);
    const found = first.kind === 'stands' ? first.row : undefined;
    expect(decideRow(found, guarded)).toEqual({ kind: 'stale' });
    expect(decideRow(found, { ...guarded, eventIndex: 0 })).toEqual({ kind: 'stale' });
    expect(decideRow(found, { ...guarded, eventIndex: 2 }).kind).toBe('stands');
  });

  test('is refused to another one by name, live or removed, and stays as it is', () => {
    const { window, refusals, visible } = readModelCase(plain);
    window({ ref: a, version: 1, calls: [plain.put('r', { of: 'a' })] });
    expect(refusals({ ref: b, version: 9, calls: [plain.put('r', { of: 'b' })] })).toEqual([
      {
        ref: b,
        model: 'plain',
        id: 'r',
        code: 'ROW_FOREIGN',
        message: 'Row "r" of plain belongs to eshop.order/a/1; eshop.order/b/1 cannot write it',
        isRecoverable: false,
      },
    ]);
    expect(refusals({ ref: b, version: 10, calls: [plain.remove('r')] })).toHaveLength(1);
    expect(visible(plain)).toEqual({ r: { of: 'a' } });
    window({ ref: a, version: 2, calls: [plain.remove('r')] });
    expect(refusals({ ref: b, version: 9, calls: [plain.put('r', { of: 'b' })] })).toHaveLength(1);
  });

  test('is refused to two tenants that share an id, unless the tenant is part of the row id', () => {
    const ofTenant = (tenant: string, version: number, id: readonly string[]): CommitOf => ({
      ref: `eshop.order/${tenant}/O-1`,
      version,
      calls: [plain.put(id, { tenant, version })],
    });
    const shared = readModelCase(plain);
    shared.window(ofTenant('a', 1, ['O-1']));
    expect(shared.window(ofTenant('b', 1, ['O-1']))).toEqual([
      expect.stringMatching('ROW_FOREIGN: Row "O-1" of plain'),
    ]);
    shared.window(ofTenant('a', 2, ['O-1']));
    expect(shared.visible(plain)).toEqual({ 'O-1': { tenant: 'a', version: 2 } });

    const apart = readModelCase(plain);
    expect(apart.window(ofTenant('a', 1, ['a', 'O-1']), ofTenant('b', 1, ['b', 'O-1']))).toEqual([]);
    expect(Object.keys(apart.visible(plain))).toEqual(['a/O-1', 'b/O-1']);
  });

  test('names every refused aggregate of a window, and writes nothing of it', () => {
    const { window, refusals, visible } = readModelCase(plain);
    window({ ref: a, version: 1, calls: [[plain.put('r', {}), plain.put('s', {})]] });
    const refused = refusals(
      { ref: b, version: 1, calls: [plain.put('r', {})] },
      { ref: 'eshop.order/c/1', version: 1, calls: [plain.put('s', {})] },
      { ref: 'eshop.order/d/1', version: 1, calls: [plain.put('t', {})] },
    );
    expect(refused.map(({ ref }) => ref)).toEqual([b, 'eshop.order/c/1']);
    expect(visible(plain)).not.toHaveProperty('t');
  });
});

describe('a row that may move', () => {
  test('is let go where its aggregate does not put it any more', () => {
    const { window, visible, row } = readModelCase(moving);
    window({ ref: a, version: 1, calls: [[moving.put('x', { n: 1 }), moving.put('y', { n: 1 })]] });
    window({ ref: a, version: 2, calls: [[moving.put('y', { n: 2 }), moving.put('z', { n: 2 })]] });
    expect(visible(moving)).toEqual({ y: { n: 2 }, z: { n: 2 } });
    expect(row(moving, 'x')).toMatchObject({ isLive: false, value: {}, guard: { owner: a, version: 2 } });
    window({ ref: a, version: 3, calls: [undefined] });
    expect(visible(moving)).toEqual({});
  });

  test('is refused to another aggregate while it is held, recoverably, and taken over afterwards', () => {
    const { window, refusals, visible, row } = readModelCase(moving);
    window({ ref: a, version: 1, calls: [moving.put('x', { of: 'a' })] });
    expect(refusals({ ref: b, version: 1, calls: [moving.put('x', { of: 'b' })] })).toEqual([
      {
        ref: b,
        model: 'moving',
        id: 'x',
        code: 'ROW_HELD',
        message: 'Row "x" of moving is held by eshop.order/a/1; eshop.order/b/1 cannot take it yet',
        isRecoverable: true,
      },
    ]);
    window({ ref: a, version: 2, calls: [moving.remove('x')] });
    expect(window({ ref: b, version: 1, calls: [moving.put('x', { of: 'b' })] })).toEqual([]);
    expect(visible(moving)).toEqual({ x: { of: 'b' } });
    // The former owner's stale writes end at its source record.
    window({ ref: a, version: 1, calls: [moving.put('x', { of: 'a' })] });
    window({ ref: a, version: 3, calls: [undefined] });
    expect(row(moving, 'x')).toMatchObject({ isLive: true, value: { of: 'b' }, guard: { owner: b } });
  });

  test('passes from one aggregate to another inside one window, whichever stands first', () => {
    for (const isReversed of [false, true]) {
      const { window, visible } = readModelCase(moving);
      window({ ref: a, version: 1, calls: [moving.put('x', { of: 'a' })] });
      const commits: readonly CommitOf[] = [
        { ref: a, version: 2, calls: [moving.put('y', { of: 'a' })] },
        { ref: b, version: 1, calls: [moving.put('x', { of: 'b' })] },
      ];
      expect(window(...(isReversed ? commits.toReversed() : commits))).toEqual([]);
      expect(visible(moving)).toEqual({ x: { of: 'b' }, y: { of: 'a' } });
    }
  });

  test('that was passed through inside a window is never seen', () => {
    const { window, row, visible } = readModelCase(moving);
    window(
      { ref: a, version: 1, calls: [moving.put('x', {})] },
      { ref: a, version: 2, calls: [moving.put('y', {}), moving.put('z', {})] },
    );
    expect(Object.keys(visible(moving))).toEqual(['z']);
    expect([row(moving, 'x'), row(moving, 'y')]).toEqual([undefined, undefined]);
  });

  test('is not touched by the removal of an aggregate that does not hold it', () => {
    const { window, visible } = readModelCase(moving);
    window({ ref: a, version: 1, calls: [moving.put('x', {})] });
    expect(window({ ref: b, version: 1, calls: [moving.remove('x')] })).toEqual([]);
    expect(Object.keys(visible(moving))).toEqual(['x']);
  });
});

test('a row that is to be let go, but is gone or of another by now, is left alone', () => {
  const { store, window } = readModelCase(moving);
  window({ ref: b, version: 1, calls: [moving.put('r', {})] });
  const write = { kind: 'remove', model: moving.shape, id: 'r' } as const;
  const guarded = { ref: refKey(a), aggregate: 'eshop.order', version: 2, eventIndex: 0, write };
  expect(decideRelease(undefined, guarded)).toEqual({ kind: 'stale' });
  expect(decideRelease(store.row(moving.shape, 'r'), guarded)).toEqual({ kind: 'stale' });
});

test('a row of a model whose kind was changed stops the worker instead of being read wrongly', () => {
  const { window, store } = readModelCase(contributed);
  window({ ref: a, version: 1, calls: [contributed.contribute('r', { n: 1 })] });
  const found = store.row(contributed.shape, 'r');
  const write = { kind: 'put', model: plain.shape, id: 'r', row: {} } as const;
  const guarded = { ref: refKey(a), aggregate: 'eshop.order', version: 2, eventIndex: 0, write };
  expect(() => decideRow(found, guarded)).toThrow(
    'The read model plain is stored as contributors, and is declared as rows now.',
  );
});
