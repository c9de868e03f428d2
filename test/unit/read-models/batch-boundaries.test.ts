import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HandledCommit } from '../../../src/read-models/handled-commit.ts';
import { type CommitOf, commitOf, joined, moving, plain } from '../../support/handled-history.ts';
import { MemoryReadModel } from '../../support/memory-read-model.ts';
import { readModelCase } from '../../support/read-model-case.ts';
import { referenceRows } from '../../support/reference-read-model.ts';
import { commitAll } from '../../support/window-delivery.ts';

const ref = 'eshop.order/t/1';

function windowsOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, nth) => items.slice(nth * size, (nth + 1) * size));
}

describe.each([1, 2, 3])('in windows of %d', (size) => {
  test('a row that is deleted and made anew has nothing of the old one, also when the old one comes late', () => {
    const { window, visible } = readModelCase(plain);
    const commits: readonly CommitOf[] = [
      { ref, version: 1, calls: [plain.put('r', { a: 1, b: 1 })] },
      { ref, version: 2, calls: [plain.remove('r')] },
      { ref, version: 3, calls: [plain.put('r', { a: 3 })] },
    ];
    for (const each of windowsOf(commits, size)) window(...each);
    expect(visible(plain)).toEqual({ r: { a: 3 } });
    window(...commits.slice(0, 1));
    window(...commits.slice(0, 2));
    expect(visible(plain)).toEqual({ r: { a: 3 } });
  });

  test('a row that is removed and put by events of one commit stands', () => {
    const { window, visible } = readModelCase(plain);
    const commits: readonly CommitOf[] = [
      { ref, version: 1, calls: [plain.put('r', { a: 1, b: 1 })] },
      { ref, version: 2, calls: [plain.remove('r'), plain.put('r', { a: 2 })] },
      { ref, version: 1, calls: [plain.put('r', { a: 1, b: 1 })] },
    ];
    for (const each of windowsOf(commits, size)) window(...each);
    expect(visible(plain)).toEqual({ r: { a: 2 } });
  });

  test('a join whose primary is removed and comes back keeps the other part', () => {
    const { window, visible } = readModelCase(joined);
    const commits: readonly CommitOf[] = [
      { ref, version: 1, calls: [joined.part('r', { a: 1, b: 1 })] },
      { ref: 'eshop.payment/t/1', version: 1, calls: [joined.part('r', { paid: 1 })] },
      { ref, version: 2, calls: [joined.remove('r')] },
      { ref, version: 3, calls: [joined.part('r', { a: 3 })] },
      { ref, version: 1, calls: [joined.part('r', { a: 1, b: 1 })] },
    ];
    for (const each of windowsOf(commits, size)) window(...each);
    expect(visible(joined)).toEqual({ r: { a: 3, paid: 1 } });
  });

  test('a row that is let go and put again stands', () => {
    const { window, visible } = readModelCase(moving);
    const commits: readonly CommitOf[] = [
      { ref, version: 1, calls: [moving.put('r', { a: 1, b: 1 })] },
      { ref, version: 2, calls: [moving.put('s', { a: 2 })] },
      { ref, version: 3, calls: [moving.put('r', { a: 3 })] },
      { ref, version: 1, calls: [moving.put('r', { a: 1, b: 1 })] },
    ];
    for (const each of windowsOf(commits, size)) window(...each);
    expect(visible(moving)).toEqual({ r: { a: 3 } });
  });
});

/*
 * A row that passes on and on: each aggregate takes the row of the one before, which has gone on to the next. Aggregates
 * come in any order among themselves; what is held for now is tried again later, in order.
 */
describe('rows that pass from aggregate to aggregate', () => {
  const histories = fc
    .record({
      aggregates: fc.integer({ min: 2, max: 4 }),
      versions: fc.integer({ min: 1, max: 5 }),
      ranks: fc.array(fc.nat({ max: 1_000 }), { minLength: 20, maxLength: 20 }),
      sizes: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 20 }),
    })
    .map(({ aggregates, versions, ranks, sizes }) => {
      const commits = Array.from({ length: aggregates * versions }, (_, nth) => {
        const id = nth % aggregates;
        const version = 1 + Math.floor(nth / aggregates);
        // Ids only rise, so nobody waits in a circle; the last rows of all aggregates differ.
        const call = moving.put(`row ${id + version}`, { id, version });
        return commitOf({ ref: `eshop.order/t/${id}`, version, calls: [call] });
      });
      const order = (commit: HandledCommit): number => ranks[commits.indexOf(commit)] ?? 0;
      return { commits, delivered: commits.toSorted((a, b) => order(a) - order(b)), sizes };
    });

  test('end where one delivery in version order ends them, when held ones are tried again', () => {
    fc.assert(
      fc.property(histories, ({ commits, delivered, sizes }) => {
        const store = new MemoryReadModel();
        let waiting: readonly HandledCommit[] = delivered;
        for (let round = 0; waiting.length > 0; round += 1) {
          if (round > 2 * commits.length) throw new Error('an aggregate waits for ever');
          waiting = deliverOnce(store, waiting, sizes[round % sizes.length] ?? 1);
        }
        expect(store.visibleRows(moving.shape)).toEqual(referenceRows(moving.shape, commits));
      }),
      { numRuns: 100 },
    );
  }, 20_000);
});

/** Commits windows; what is refused or does not fit is left over, in order. */
function deliverOnce(
  store: MemoryReadModel,
  commits: readonly HandledCommit[],
  size: number,
): readonly HandledCommit[] {
  const left: HandledCommit[] = [];
  for (const window of windowsOf(commits, size)) {
    const isWhole = tryWindow(store, window);
    if (isWhole) continue;
    for (const commit of window) if (!tryWindow(store, [commit])) left.push(commit);
  }
  return left;
}

function tryWindow(store: MemoryReadModel, commits: readonly HandledCommit[]): boolean {
  try {
    return commitAll({ store, models: [moving.shape], commits })?.kind !== 'refused';
  } catch {
    return false;
  }
}
