/**
 * - `rows`: a row belongs to one aggregate, its id is a function of the ref.
 * - `moves`: as `rows`, but the id may change over the aggregate's life.
 * - `joined`: a row merges one part per source aggregate name.
 * - `totals`: sums over many aggregates.
 */
export type ModelKind = 'rows' | 'moves' | 'joined' | 'totals';

export type IndexShape = {
  /** Field name (a dot leads into nested objects) → 1 ascending, -1 descending; in order. */
  readonly fields: Readonly<Record<string, 1 | -1>>;
  readonly isUnique: boolean;
};

/** A read model as stores see it. */
export type ModelShape = {
  readonly name: string;
  readonly kind: ModelKind;
  /** `joined` only: the aggregate (`context.aggregate`) whose live part makes the row visible. */
  readonly primary: string | undefined;
  readonly indexes: readonly IndexShape[];
};
