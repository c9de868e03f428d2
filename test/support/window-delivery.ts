import fc from 'fast-check';
import type { HandledCommit } from '../../src/read-models/handled-commit.ts';
import type { ModelShape } from '../../src/read-models/model-shape.ts';
import { PendingWrites } from '../../src/read-models/pending-writes.ts';
import type { Decision } from '../../src/read-models/write-plan.ts';
import type { MemoryReadModel } from './memory-read-model.ts';

/** One window of one owner. */
export type Step = {
  /** Which of two owners, each with a position of its own, neither fenced. */
  readonly owner: 0 | 1;
  /** How far the owner first falls back: redelivery. */
  readonly back: number;
  readonly commits: number;
  /** Documents of one transaction. */
  readonly documents: number;
  /** The owner crashes after so many of the window's transactions; its position does not move then. */
  readonly crashAfter: number | undefined;
};

export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    owner: fc.constantFrom(0 as const, 1 as const),
    back: fc.constantFrom(0, 0, 0, 1, 3, 20),
    commits: fc.constantFrom(1, 2, 5, 10, 40),
    documents: fc.constantFrom(1, 3, 1_000),
    crashAfter: fc.constantFrom(undefined, undefined, 0, 1, 2),
  }),
  { maxLength: 12 },
);

export function keepsSources(models: readonly ModelShape[]): boolean {
  return models.some(({ kind }) => kind === 'moves' || kind === 'totals');
}

export type Delivery = {
  readonly store: MemoryReadModel;
  readonly models: readonly ModelShape[];
  readonly commits: readonly HandledCommit[];
};

/** Delivers the commits in windows until one owner has all behind it; the other is where its steps left it. */
export function deliver(delivery: Delivery, windows: readonly Step[]): void {
  const { commits } = delivery;
  const positions: [number, number] = [0, 0];
  const last: Step = { owner: 0, back: 0, commits: commits.length, documents: 1_000, crashAfter: undefined };
  for (const step of [...windows, last]) {
    const from = Math.max(0, positions[step.owner] - step.back);
    const window = commits.slice(from, from + step.commits);
    const isDone = commitWindow({ ...delivery, commits: window }, step);
    if (isDone) positions[step.owner] = Math.max(positions[step.owner], from + window.length);
  }
}

function commitWindow({ store, models, commits }: Delivery, { documents, crashAfter }: Step): boolean {
  const pending = new PendingWrites({ models, keepsSources: keepsSources(models) });
  for (const commit of commits) {
    if (!pending.admit(commit)) throw new Error(`${commit.ref}@${commit.version} does not fit into the window`);
  }
  const plans = pending.plans({ documents, bytes: Number.POSITIVE_INFINITY });
  for (const [index, plan] of plans.entries()) {
    if (index === crashAfter) return false;
    const decision = store.commit(plan);
    if (decision.kind === 'refused')
      throw new Error(`refused: ${decision.refusals.map(({ message }) => message).join()}`);
  }
  return crashAfter === undefined || plans.length < crashAfter;
}

/** Commits a window that is expected to fit, in one transaction. */
export function commitAll({ store, models, commits }: Delivery): Decision | undefined {
  const pending = new PendingWrites({ models, keepsSources: keepsSources(models) });
  for (const commit of commits) {
    if (!pending.admit(commit)) throw new Error(`${commit.ref}@${commit.version} does not fit into the window`);
  }
  const [plan, more] = pending.plans({ documents: 1_000, bytes: Number.POSITIVE_INFINITY });
  if (more !== undefined) throw new Error('the window was cut');
  return plan === undefined ? undefined : store.commit(plan);
}
