export type PartitionStart = { readonly partition: number; readonly offset: number };

/**
 * The resolved start offsets of all partitions a topic had when a subscription (in a generation) first followed it.
 * Written once. A partition that is not in it was added later and starts at its beginning.
 */
export type Initialisation = {
  readonly topic: string;
  /** Identity of the log the starts were resolved on. */
  readonly identity: string;
  readonly starts: readonly PartitionStart[];
  /** As status shows it: `start: end (reactor default)`. */
  readonly origin: string;
  /** Whether the log had lost its beginning when a start at the beginning was resolved. */
  readonly isHistoryIncomplete: boolean;
};
