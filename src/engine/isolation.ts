import type { RefKey } from '../log/ref.ts';

/**
 * Aggregates whose coalesced writes the store refused. Up to `until` their commits are committed alone, in order, so that
 * those before the first that fails stand and that one becomes the head in the ledger.
 */
export type Isolation = { readonly refs: ReadonlySet<RefKey>; readonly until: number };

export const NO_ISOLATION: Isolation = { refs: new Set(), until: 0 };

/** Takes further aggregates apart, up to the end of the window that was refused. */
export function isolate(isolation: Isolation, refs: readonly RefKey[], until: number): Isolation {
  return { refs: new Set([...isolation.refs, ...refs]), until: Math.max(isolation.until, until) };
}
