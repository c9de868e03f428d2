import { describe, expect, test } from 'vitest';
import { missingRangesMax } from '../../../../src/read-models/decisions/source-decision.ts';
import type { HandledCommit } from '../../../../src/read-models/handled-commit.ts';
import { readModel } from '../../../../src/read-models/read-model.ts';
import { added, type CommitOf, commitOf, contributed, moving, refKey } from '../../../support/handled-history.ts';
import { MemoryReadModel } from '../../../support/memory-read-model.ts';
import { readModelCase } from '../../../support/read-model-case.ts';
import { commitAll } from '../../../support/window-delivery.ts';

const ref = 'eshop.order/t/1';

const adds = (version: number): CommitOf => ({ ref, version, calls: [added.add('n', { n: 1 })] });
const puts = (version: number, ...ids: readonly string[]): CommitOf => ({
  ref,
  version,
  calls: [ids.map((id) => moving.put(id, { version }))],
});

describe('a source record', () => {
  test('of an aggregate first seen later misses what came before', () => {
    const { window, store } = readModelCase(added);
    window(adds(7));
    expect(store.source(refKey(ref))).toEqual({
      ref,
      version: 7,
      missing: [{ from: 1, to: 6 }],
      decided: 7,
      held: {},
      contributions: {},
    });
  });

  test('counts each version once, whenever it comes', () => {
    const { window, store, visible } = readModelCase(added);
    window(adds(3), adds(3));
    window(adds(1), adds(3));
    window(adds(5), adds(2), adds(1));
    window(adds(3));
    expect(visible(added)).toEqual({ n: { n: 4 } });
    expect(store.source(refKey(ref))).toMatchObject({ version: 5, missing: [{ from: 4, to: 4 }] });
  });

  test('is not written again by what was handled', () => {
    const { window, store } = readModelCase(added);
    window(adds(1), adds(2));
    const again = commitAll({ store, models: [added.shape], commits: [commitOf(adds(2)), commitOf(adds(1))] });
    expect(again).toEqual({ kind: 'changes', rows: [], sources: [] });
  });

  test('takes a version that comes late for decided if a newer one decided', () => {
    const { window, visible, store } = readModelCase(moving);
    window(puts(4, 'x'));
    window(puts(3, 'y'));
    expect(Object.keys(visible(moving))).toEqual(['x']);
    expect(store.source(refKey(ref))).toMatchObject({
      version: 4,
      missing: [{ from: 1, to: 2 }],
      decided: 4,
      held: { moving: ['x'] },
    });
  });

  test('lets a version that comes late decide if only unwanted ones came after it', () => {
    const { window, visible, store } = readModelCase(moving);
    window(puts(1, 'x'), { ref, version: 5 });
    window(puts(3, 'y'));
    expect(Object.keys(visible(moving))).toEqual(['y']);
    window(puts(2, 'z'));
    expect(Object.keys(visible(moving))).toEqual(['y']);
    expect(store.source(refKey(ref))).toMatchObject({ version: 5, missing: [{ from: 4, to: 4 }], decided: 3 });
  });

  test(`has at most ${missingRangesMax} stretches of missing versions`, () => {
    const { window, refusals, store } = readModelCase(added);
    const odd = Array.from({ length: missingRangesMax }, (_, index) => 3 + 2 * index);
    expect(window(...odd.map(adds))).toEqual([]);
    expect(store.source(refKey(ref))?.missing).toHaveLength(missingRangesMax);
    const next = 3 + 2 * missingRangesMax;
    expect(refusals(adds(next))).toEqual([
      {
        ref,
        model: '',
        id: '',
        code: 'VERSIONS_MISSING',
        message: `${ref} lacks versions below ${next} in more than ${missingRangesMax} places`,
        isRecoverable: false,
      },
    ]);
    window(adds(4));
    expect(window(adds(next))).toEqual([]);
  });

  test('leaves what models hold that the function does not name any more', () => {
    const before = readModelCase(moving, contributed);
    before.window({ ref, version: 1, calls: [[moving.put('x', {}), contributed.contribute('n', { n: 1 })]] });
    commitAll({
      store: before.store,
      models: [contributed.shape],
      commits: [commitOf({ ref, version: 2, calls: [contributed.contribute('m', { n: 1 })] })],
    });
    expect(before.store.source(refKey(ref))).toMatchObject({
      held: { moving: ['x'] },
      contributions: { contributed: { m: { n: 1 } } },
    });
    expect(Object.keys(before.visible(moving))).toEqual(['x']);
  });

  test('of a model called as a member of every object holds what it put', () => {
    const model = readModel<object>('constructor', { moves: true });
    const store = new MemoryReadModel();
    const commit = (version: number, id: string): HandledCommit => ({
      ref: refKey(ref),
      aggregate: 'eshop.order',
      version,
      calls: [{ eventIndex: 0, writes: [model.put(id, {})] }],
      bytes: 1,
    });
    commitAll({ store, models: [model.shape], commits: [commit(1, 'x')] });
    commitAll({ store, models: [model.shape], commits: [commit(2, 'y')] });
    expect([...store.visibleRows(model.shape).keys()]).toEqual(['y']);
  });

  test('decides for all models of the call at once', () => {
    const { window, visible } = readModelCase(moving, contributed);
    window({ ref, version: 1, calls: [[moving.put('x', {}), contributed.contribute('n', { n: 1 })]] });
    window({ ref, version: 2, calls: [moving.put('y', {})] });
    expect(Object.keys(visible(moving))).toEqual(['y']);
    expect(visible(contributed)).toEqual({});
  });

  test('has a window taken apart in which a skipped version hides an older one that is new', () => {
    const { window, refusals, visible } = readModelCase(moving);
    // Version 3 was marked as handled without being called, and version 2 was missing.
    window(puts(1, 'x'), { ref, version: 3 });
    expect(refusals(puts(2, 'y'), puts(3, 'z'))).toMatchObject([
      { ref, code: 'WRITES_COALESCED', isRecoverable: true },
    ]);
    expect([...window(puts(2, 'y')), ...window(puts(3, 'z'))]).toEqual([]);
    expect(Object.keys(visible(moving))).toEqual(['y']);
  });
});
