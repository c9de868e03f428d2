import type { RefKey } from '../log/ref.ts';
import type { Amounts } from './write.ts';

/** Versions `[from, to]`, both included. */
export type VersionRange = { readonly from: number; readonly to: number };

/**
 * Per subscription, generation and aggregate: what was handled, and what it put where. Kept only where guards in rows
 * cannot keep a model right (`moves`, `totals`).
 */
export type SourceRecord = {
  readonly ref: RefKey;
  /** The highest version handled. */
  readonly version: number;
  /** Versions below `version` that were not handled; ordered, apart. Includes `[1, first - 1]` if the first seen was later. */
  readonly missing: readonly VersionRange[];
  /** The version of the last handler call that decided `held` and `contributions`; 0: none yet. */
  readonly decided: number;
  /** Model name → ids of the rows it holds (`moves`). */
  readonly held: Readonly<Record<string, readonly string[]>>;
  /** Model name → row id → amounts it adds now (`totals` by `contribute`). */
  readonly contributions: Readonly<Record<string, Readonly<Record<string, Amounts>>>>;
};
