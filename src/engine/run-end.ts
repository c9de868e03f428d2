import type { UnavailableError } from '../runtime/errors.ts';
import type { Isolation } from './isolation.ts';
import type { Stop } from './window.ts';

/** Why a run of a partition came to its end. */
export type RunEnd =
  | { readonly kind: 'aborted' }
  | { readonly kind: 'fenced' }
  /** Go on from the checkpoint, taking these aggregates apart. */
  | { readonly kind: 'isolate'; readonly isolation: Isolation }
  /** The log or the ledger cannot be read now. Go on from the checkpoint. */
  | { readonly kind: 'unavailable'; readonly error: UnavailableError }
  /** The log does not hold what comes next. */
  | { readonly kind: 'gap'; readonly reason: string }
  | ({ readonly kind: 'stopped' } & Stop);
