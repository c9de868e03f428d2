import type { RefKey } from '../log/ref.ts';
import type { RowValue } from './write.ts';

/** `onState` counts as after all events of its commit. Stored as this number. */
export const EVENT_INDEX_STATE = 2_147_483_647;

/** Who wrote a row last, and by which event of which version: a strictly newer one of the same owner replaces it. */
export type OwnerGuard = {
  readonly kind: 'owner';
  readonly owner: RefKey;
  readonly version: number;
  readonly eventIndex: number;
};

/** One source's part of a joined row; `fields` is undefined once it was removed (a tombstone). */
export type Part = {
  readonly owner: RefKey;
  readonly version: number;
  readonly eventIndex: number;
  readonly fields: RowValue | undefined;
};

/** A joined row's guard: a part per source aggregate name (`context.aggregate`). */
export type PartsGuard = { readonly kind: 'parts'; readonly parts: Readonly<Record<string, Part>> };

/**
 * A totals row's guard. A field stands in the row as long as one current contributor names it, whatever the sum is, so
 * that the row depends on the current contributions alone and not on how they came about.
 */
export type ContributorsGuard = {
  readonly kind: 'contributors';
  /** How many aggregates contribute now; `undefined` for rows that are added to. */
  readonly contributors: number | undefined;
  /** Field → how many of the contributors name it; only fields that not all of them name. Most often `{}`. */
  readonly fields: Readonly<Record<string, number>>;
};

export type Guard = OwnerGuard | PartsGuard | ContributorsGuard;
