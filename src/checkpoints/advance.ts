import type { Fence } from './epoch.ts';

/** A checkpoint's move inside a larger transaction: from the fence's state to `offset` (which may be unchanged). */
export type Advance = { readonly fence: Fence; readonly offset: number };
