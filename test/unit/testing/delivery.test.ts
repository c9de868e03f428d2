import fc from 'fast-check';
import { aggregate, type CommitRecord } from 'tidemark';
import { commit } from 'tidemark/testing';
import { describe, expect, test } from 'vitest';
import { deliveriesOf } from '../../../src/testing/delivery.ts';
import { seededRandom } from '../../../src/testing/seeded-random.ts';

const Counter = aggregate<number, { counted: { readonly by: number } }>('test.counter');

function counted(id: string, version: number): CommitRecord {
  return commit(Counter, { id, version, events: [{ name: 'counted', body: { by: 1 } }], state: version });
}

/** Commits of some aggregates, the versions of each in order. */
const histories = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 }).map((ids) => {
  const versions = new Map<string, number>();
  return ids.map((id) => {
    const version = (versions.get(id) ?? 0) + 1;
    versions.set(id, version);
    return counted(id, version);
  });
});

const delivery = fc.record({ twice: fc.boolean(), late: fc.boolean(), shuffled: fc.boolean() });
const names = (commits: readonly CommitRecord[]) =>
  commits.map(({ aggregateId, version }) => `${aggregateId}${version}`);
const ofA = (commits: readonly CommitRecord[]) => names(commits).filter((name) => name.startsWith('a'));

describe('deliveries', () => {
  test('hold every commit as often as asked, whatever is chosen', () => {
    fc.assert(
      fc.property(histories, delivery, fc.integer(), (commits, how, seed) => {
        const times = how.twice ? [...commits, ...commits] : commits;
        const delivered = deliveriesOf(commits, how, seededRandom(seed));
        expect(names(delivered).toSorted()).toEqual(names(times).toSorted());
      }),
    );
  });

  test('come in the given order if nothing is chosen', () => {
    const commits = [counted('b', 1), counted('a', 1), counted('b', 2)];
    expect(names(deliveriesOf(commits, {}, seededRandom(1)))).toEqual(['b1', 'a1', 'b2']);
  });

  test('keep the order of one aggregate when they are shuffled across aggregates', () => {
    fc.assert(
      fc.property(histories, fc.integer(), (commits, seed) => {
        expect(ofA(deliveriesOf(commits, { shuffled: true }, seededRandom(seed)))).toEqual(ofA(commits));
      }),
    );
  });

  test('come in many orders when they are shuffled', () => {
    const commits = ['a', 'b', 'c', 'd'].map((id) => counted(id, 1));
    const orders = Array.from({ length: 60 }, (_, seed) =>
      names(deliveriesOf(commits, { shuffled: true }, seededRandom(seed))).join(' '),
    );
    expect(new Set(orders).size).toBeGreaterThan(12);
  });

  test('have an older commit of each longer aggregate behind all newest ones when some are late', () => {
    fc.assert(
      fc.property(histories, fc.integer(), (commits, seed) => {
        const delivered = names(deliveriesOf(commits, { late: true }, seededRandom(seed)));
        for (const own of Map.groupBy(commits, ({ aggregateId }) => aggregateId).values()) {
          const order = names(own).map((name) => delivered.indexOf(name));
          const newest = order.at(-1) ?? 0;
          expect(order.some((place) => place > newest)).toBe(own.length > 1);
        }
      }),
    );
  });

  test('are decided by the seed', () => {
    const commits = Array.from({ length: 20 }, (_, place) => counted(`id-${place % 7}`, 1 + Math.floor(place / 7)));
    const how = { late: true, shuffled: true };
    const order = (seed: number) => names(deliveriesOf(commits, how, seededRandom(seed)));
    expect(order(4)).toEqual(order(4));
    expect(order(4)).not.toEqual(order(5));
  });
});
