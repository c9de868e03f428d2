import { describe, expect, test } from 'vitest';
import { roundRobinCommits } from '../../../../examples/eshop/generator/round-robin-commits.ts';

describe('commits in turn', () => {
  const commits = [...roundRobinCommits({ commits: 1_000, aggregates: 100, seed: 2 })];

  test('come back to each order after all others had one', () => {
    for (const [place, { tenantId, aggregateId, version }] of commits.entries()) {
      const first = commits[place % 100];
      expect([tenantId, aggregateId]).toEqual([first?.tenantId, first?.aggregateId]);
      expect(version).toBe(1 + Math.floor(place / 100));
    }
    expect(new Set(commits.map(({ tenantId, aggregateId }) => `${tenantId}/${aggregateId}`)).size).toBe(100);
  });

  test('are about 1 KB each', () => {
    const bytes = commits.reduce((sum, record) => sum + Buffer.byteLength(JSON.stringify(record)), 0);
    expect(bytes / commits.length).toBeGreaterThan(900);
    expect(bytes / commits.length).toBeLessThan(1_500);
  });

  test('change an order with each version', () => {
    const states = commits
      .filter((_, place) => place % 100 === 7)
      .map(({ state, ownerId }) => JSON.stringify([state, ownerId]));
    expect(new Set(states).size).toBeGreaterThan(5);
  });

  test('are the same for the same seed', () => {
    expect([...roundRobinCommits({ commits: 1_000, aggregates: 100, seed: 2 })]).toEqual(commits);
    expect([...roundRobinCommits({ commits: 1_000, aggregates: 100, seed: 3 })]).not.toEqual(commits);
  });
});
