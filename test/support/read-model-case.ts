import type { ModelShape } from '../../src/read-models/model-shape.ts';
import type { StoredRow } from '../../src/read-models/stored-row.ts';
import type { RowValue } from '../../src/read-models/write.ts';
import type { Refusal } from '../../src/read-models/write-plan.ts';
import { type CommitOf, commitOf } from './handled-history.ts';
import { MemoryReadModel } from './memory-read-model.ts';
import { commitAll } from './window-delivery.ts';

/** A read model function over a store of its own; each window is one transaction. */
export type ReadModelCase = {
  readonly store: MemoryReadModel;
  /** Commits a window; what it is refused for, as texts `CODE: message`. */
  readonly window: (...commits: readonly CommitOf[]) => readonly string[];
  readonly refusals: (...commits: readonly CommitOf[]) => readonly Refusal[];
  /** What readers see. */
  readonly visible: (model: { readonly shape: ModelShape }) => Readonly<Record<string, RowValue>>;
  readonly row: (model: { readonly shape: ModelShape }, id: string) => StoredRow | undefined;
};

export function readModelCase(...models: readonly { readonly shape: ModelShape }[]): ReadModelCase {
  const store = new MemoryReadModel();
  const shapes = models.map(({ shape }) => shape);
  const refusals = (...commits: readonly CommitOf[]): readonly Refusal[] => {
    const decision = commitAll({ store, models: shapes, commits: commits.map(commitOf) });
    return decision?.kind === 'refused' ? decision.refusals : [];
  };
  return {
    store,
    refusals,
    window: (...commits) => refusals(...commits).map(({ code, message }) => `${code}: ${message}`),
    visible: ({ shape }) => Object.fromEntries(store.visibleRows(shape)),
    row: ({ shape }, id) => store.row(shape, id),
  };
}
