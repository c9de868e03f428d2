import type { CommitRecord } from '../log/commit-record.ts';
import type { Random } from '../runtime/random.ts';

/** How given commits arrive. Whatever is chosen, right handlers give the same rows. */
export type Delivery = {
  /** Every commit arrives a second time, after all of them arrived once. */
  readonly twice?: boolean;
  /** Of each aggregate with several commits one that is not its newest arrives after all others. */
  readonly late?: boolean;
  /** Commits of different aggregates arrive in another order; those of one aggregate stay in theirs. */
  readonly shuffled?: boolean;
};

/** The commits in the order in which they arrive. */
export function deliveriesOf(
  commits: readonly CommitRecord[],
  delivery: Delivery,
  random: Random,
): readonly CommitRecord[] {
  const shuffled = delivery.shuffled === true ? shuffledAcrossAggregates(commits, random) : commits;
  const ordered = delivery.late === true ? withLateOnes(shuffled, random) : shuffled;
  return delivery.twice === true ? [...ordered, ...ordered] : ordered;
}

/** Takes the next commit of some aggregate until none is left; longer ones are picked more often, so that all last. */
function shuffledAcrossAggregates(commits: readonly CommitRecord[], random: Random): readonly CommitRecord[] {
  const order = commits.map(keyOf);
  for (let place = order.length - 1; place > 0; place -= 1) {
    const other = Math.floor(random.next() * (place + 1));
    const key = order[place];
    const otherKey = order[other];
    if (key === undefined || otherKey === undefined) continue;
    order[place] = otherKey;
    order[other] = key;
  }
  const iterators = new Map([...byAggregate(commits)].map(([key, own]) => [key, own.values()]));
  return order.flatMap((key) => iterators.get(key)?.next().value ?? []);
}

function withLateOnes(commits: readonly CommitRecord[], random: Random): readonly CommitRecord[] {
  const late = new Set<CommitRecord>();
  for (const own of byAggregate(commits).values()) {
    const newest = Math.max(...own.map(({ version }) => version));
    const older = own.filter(({ version }) => version < newest);
    const chosen = older[Math.floor(random.next() * older.length)];
    if (chosen !== undefined) late.add(chosen);
  }
  return [...commits.filter((commit) => !late.has(commit)), ...late];
}

function byAggregate(commits: readonly CommitRecord[]): ReadonlyMap<string, readonly CommitRecord[]> {
  return Map.groupBy(commits, keyOf);
}

function keyOf({ contextName, aggregateName, tenantId, aggregateId }: CommitRecord): string {
  return JSON.stringify([contextName, aggregateName, tenantId ?? '(0)', aggregateId]);
}
