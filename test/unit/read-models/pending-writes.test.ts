import { describe, expect, test } from 'vitest';
import type { HandledCommit } from '../../../src/read-models/handled-commit.ts';
import type { ModelShape } from '../../../src/read-models/model-shape.ts';
import { PendingWrites } from '../../../src/read-models/pending-writes.ts';
import type { WritePlan } from '../../../src/read-models/write-plan.ts';
import { added, commitOf, contributed, joined, moving, plain, refKey } from '../../support/handled-history.ts';
import { MemoryReadModel } from '../../support/memory-read-model.ts';
import { keepsSources } from '../../support/window-delivery.ts';

const unbounded = { documents: 1_000, bytes: 1_000_000 };

type Model = { readonly shape: ModelShape };

function window(models: readonly Model[], commits: readonly HandledCommit[] = []): PendingWrites {
  const shapes = models.map(({ shape }) => shape);
  const pending = new PendingWrites({ models: shapes, keepsSources: keepsSources(shapes) });
  for (const commit of commits) expect(pending.admit(commit)).toBe(true);
  return pending;
}

/** The ids a plan asks for when nothing is stored. */
function idsOf(plan: WritePlan): readonly string[] {
  return plan.rows(new Map()).map(({ id }) => id);
}

const order = (id: number): string => `eshop.order/t/${id}`;
const payment = (id: number): string => `eshop.payment/t/${id}`;

describe('a window takes no commit of another aggregate that', () => {
  test('writes one of its rows', () => {
    const pending = window([plain], [commitOf({ ref: order(1), version: 1, calls: [plain.put('r', { a: 1 })] })]);
    const other = commitOf({ ref: order(2), version: 1, calls: [[plain.remove('r'), plain.put('s', { a: 1 })]] });
    expect(pending.admit(other)).toBe(false);
    expect(window([plain]).admit(other)).toBe(true);
  });

  test('writes the same part of a joined row, while the parts of other names join it', () => {
    const pending = window(
      [joined],
      [
        commitOf({ ref: order(1), version: 1, calls: [joined.part('r', { a: 1 })] }),
        commitOf({ ref: payment(9), version: 1, calls: [joined.part('r', { b: 1 })] }),
      ],
    );
    expect(pending.admit(commitOf({ ref: order(2), version: 1, calls: [joined.remove('r')] }))).toBe(false);
    expect(pending.admit(commitOf({ ref: payment(8), version: 1, calls: [joined.part('r', { b: 1 })] }))).toBe(false);
  });

  test('puts a row that it holds, until it lets go of it', () => {
    const pending = window([moving], [commitOf({ ref: order(1), version: 1, calls: [moving.put('r', { a: 1 })] })]);
    const other = commitOf({ ref: order(2), version: 1, calls: [moving.put('r', { a: 2 })] });
    expect(pending.admit(other)).toBe(false);
    pending.admit(commitOf({ ref: order(1), version: 2, calls: [moving.put('s', { a: 1 })] }));
    expect(pending.admit(other)).toBe(true);
    // An older call that comes late holds nothing any more.
    expect(pending.admit(commitOf({ ref: order(3), version: 2, calls: [moving.put('u', { a: 3 })] }))).toBe(true);
    expect(pending.admit(commitOf({ ref: order(3), version: 1, calls: [moving.put('r', { a: 3 })] }))).toBe(true);
  });

  test('and nothing of that commit stays behind', () => {
    const pending = window(
      [plain, added],
      [commitOf({ ref: order(1), version: 1, calls: [plain.put('r', { a: 1 })] })],
    );
    const other = commitOf({
      ref: order(2),
      version: 1,
      calls: [plain.put('s', {}), [plain.put('r', {}), added.add('n', { n: 1 })]],
    });
    expect(pending.admit(other)).toBe(false);
    expect(pending.commits).toBe(1);
    expect(pending.retainedBytes).toBe(100);
    const plans = pending.plans(unbounded);
    expect(plans.flatMap((plan) => plan.sources)).toEqual([order(1)]);
    expect(plans.flatMap(idsOf)).toEqual(['r']);
  });

  test('only if rows are of one aggregate each: totals are shared', () => {
    const pending = window(
      [contributed, added],
      [
        commitOf({
          ref: order(1),
          version: 1,
          calls: [[contributed.contribute('r', { n: 1 }), added.add('r', { n: 1 })]],
        }),
        commitOf({
          ref: order(2),
          version: 1,
          calls: [[contributed.contribute('r', { n: 1 }), added.add('r', { n: 1 })]],
        }),
      ],
    );
    expect(pending.commits).toBe(2);
  });
});

describe('a window retains', () => {
  test('a commit as long as one of its rows is the newest', () => {
    const pending = window([plain]);
    pending.admit(
      commitOf({ ref: order(1), version: 1, bytes: 10, calls: [[plain.put('r', {}), plain.put('s', {})]] }),
    );
    expect(pending.retainedBytes).toBe(10);
    pending.admit(commitOf({ ref: order(1), version: 2, bytes: 5, calls: [plain.put('r', {})] }));
    expect(pending.retainedBytes).toBe(15);
    pending.admit(commitOf({ ref: order(1), version: 3, bytes: 3, calls: [plain.put('s', {}), plain.put('r', {})] }));
    expect(pending.retainedBytes).toBe(3);
    pending.admit(commitOf({ ref: order(1), version: 2, bytes: 7, calls: [plain.put('r', {})] }));
    expect(pending.retainedBytes).toBe(3);
    expect(pending.commits).toBe(4);
  });

  test('a commit once, however many of its events write to one row', () => {
    const pending = window([plain]);
    pending.admit(commitOf({ ref: order(1), version: 1, bytes: 10, calls: [plain.put('r', {}), plain.put('r', {})] }));
    expect(pending.retainedBytes).toBe(10);
  });

  test('the newest call of an aggregate, and every version that adds', () => {
    const contributing = window([contributed]);
    const adding = window([added]);
    for (const version of [1, 3, 2, 3]) {
      contributing.admit(
        commitOf({ ref: order(1), version, bytes: version, calls: [contributed.contribute('r', { n: 1 })] }),
      );
      adding.admit(commitOf({ ref: order(1), version, bytes: version, calls: [added.add('r', { n: 1 })] }));
    }
    expect(contributing.retainedBytes).toBe(3);
    expect(adding.retainedBytes).toBe(6);
  });

  test('nothing of a commit that nobody wanted', () => {
    const pending = window([plain], [commitOf({ ref: order(1), version: 1 })]);
    expect(pending.isEmpty).toBe(true);
    expect(pending.commits).toBe(1);
    expect(pending.retainedBytes).toBe(0);
    expect(pending.plans(unbounded)).toEqual([]);
  });
});

test('a version that nobody wanted is written to the source record, where one is kept', () => {
  const pending = window([added], [commitOf({ ref: order(1), version: 1 })]);
  expect(pending.isEmpty).toBe(false);
  const store = new MemoryReadModel();
  for (const plan of pending.plans(unbounded)) store.commit(plan);
  expect(store.source(refKey(order(1)))).toMatchObject({ version: 1, missing: [], decided: 0 });
});

test('a window takes nothing once its plans were made', () => {
  const pending = window([plain]);
  pending.plans(unbounded);
  expect(() => pending.admit(commitOf({ ref: order(1), version: 1 }))).toThrow('takes no commit');
});

describe('a window is cut', () => {
  const orders = [1, 2, 3, 4, 5];

  test('between aggregates, at most so many documents each', () => {
    const pending = window(
      [moving],
      orders.map((id) =>
        commitOf({ ref: order(id), version: 1, calls: [[moving.put(`${id}a`, {}), moving.put(`${id}b`, {})]] }),
      ),
    );
    const plans = pending.plans({ documents: 7, bytes: 1_000_000 });
    expect(plans.map(({ sources }) => sources)).toEqual([[order(1), order(2)], [order(3), order(4)], [order(5)]]);
    expect(plans.map(idsOf)).toEqual([
      ['1a', '1b', '2a', '2b'],
      ['3a', '3b', '4a', '4b'],
      ['5a', '5b'],
    ]);
  });

  test('by bytes', () => {
    const pending = window(
      [plain],
      orders.map((id) => commitOf({ ref: order(id), version: 1, bytes: 40, calls: [plain.put(`${id}`, {})] })),
    );
    expect(pending.plans({ documents: 1_000, bytes: 100 }).map(idsOf)).toEqual([['1', '2'], ['3', '4'], ['5']]);
  });

  test('never within an aggregate', () => {
    const ids = Array.from({ length: 20 }, (_, index) => `${index}`);
    const pending = window(
      [plain],
      [
        commitOf({ ref: order(1), version: 1, calls: [ids.map((id) => plain.put(id, {}))] }),
        commitOf({ ref: order(2), version: 1, calls: [plain.put('other', {})] }),
      ],
    );
    expect(pending.plans({ documents: 5, bytes: 1 }).map(idsOf)).toEqual([ids, ['other']]);
  });

  test('counting a totals row once, whoever changes it', () => {
    const pending = window(
      [contributed],
      orders.map((id) => commitOf({ ref: order(id), version: 1, calls: [contributed.contribute('all', { n: 1 })] })),
    );
    expect(pending.plans({ documents: 4, bytes: 1_000_000 }).map(({ sources }) => sources.length)).toEqual([3, 2]);
  });
});

describe('a plan', () => {
  test('names the aggregates that a row is written for', () => {
    const [plan] = window(
      [plain, moving, joined, contributed, added],
      [
        commitOf({
          ref: order(1),
          version: 1,
          calls: [[plain.put('r', {}), joined.part('r', { a: 1 }), added.add('r', { n: 1 })]],
        }),
        commitOf({
          ref: payment(1),
          version: 1,
          calls: [[moving.put('r', {}), joined.part('r', { b: 1 }), contributed.contribute('r', { n: 1 })]],
        }),
      ],
    ).plans(unbounded);
    const refsOf = (model: Model): unknown => plan?.refsOf({ model: model.shape, id: 'r' });
    expect(refsOf(plain)).toEqual([order(1)]);
    expect(refsOf(moving)).toEqual([payment(1)]);
    expect(refsOf(joined)).toEqual([order(1), payment(1)]);
    expect(refsOf(contributed)).toEqual([payment(1)]);
    expect(refsOf(added)).toEqual([order(1)]);
  });

  test('names all its aggregates for a row that one of them lets go', () => {
    const [plan] = window(
      [moving],
      [commitOf({ ref: order(1), version: 2, calls: [[]] }), commitOf({ ref: order(2), version: 1, calls: [[]] })],
    ).plans(unbounded);
    expect(plan?.refsOf({ model: moving.shape, id: 'r' })).toEqual([order(1), order(2)]);
  });

  test('asks once for a row that two aggregates share', () => {
    const [plan] = window(
      [joined],
      [
        commitOf({ ref: order(1), version: 1, calls: [joined.part('r', { a: 1 })] }),
        commitOf({ ref: payment(1), version: 1, calls: [joined.part('r', { b: 1 })] }),
      ],
    ).plans(unbounded);
    expect(plan?.sources).toEqual([]);
    expect(plan && idsOf(plan)).toEqual(['r']);
  });

  test('orders the rows that transactions may share', () => {
    const pending = window(
      [contributed],
      ['c', 'a', 'b'].map((id, nth) =>
        commitOf({ ref: order(nth), version: 1, calls: [contributed.contribute(id, {})] }),
      ),
    );
    const [plan] = pending.plans(unbounded);
    const decision = plan?.decide(new Map(), new Map());
    expect(
      decision?.kind === 'changes' && decision.rows.map((change) => change.kind !== 'delete' && change.row.id),
    ).toEqual(['a', 'b', 'c']);
  });
});
