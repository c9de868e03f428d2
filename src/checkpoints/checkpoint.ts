import type { TopicPartition } from '../log/position.ts';

/** Offsets `[from, to)` that are finished beyond the frontier. Runs are ordered, apart and not empty. */
export type Run = { readonly from: number; readonly to: number };

/** How far a subscription has come in one partition. Everything below `offset` is done or durably parked. */
export type Checkpoint = TopicPartition & {
  readonly epoch: number;
  readonly sequence: number;
  /** The next offset to handle. */
  readonly offset: number;
  /** What is finished beyond `offset`; empty for batch runners. */
  readonly completed: readonly Run[];
  /** Where the position came from, as status shows it: `checkpoint`, or the start that was resolved. */
  readonly origin: string;
  /** By the store's clock, milliseconds since the epoch. */
  readonly savedAt: number;
};
