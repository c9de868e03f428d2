/**
 * | state | meaning |
 * | --- | --- |
 * | starting | claiming, reading the checkpoint and the ledger |
 * | following | handling what the log holds |
 * | waiting | the store or the log cannot be reached, or older partitions go first; goes on by itself |
 * | fenced | another owner took over; claims again after a backoff |
 * | gap | the log lost what comes next, or is another log; an operator must act |
 * | stopped | a bound was reached or our own code failed; an operator must act |
 */
export type PartitionState = 'starting' | 'following' | 'waiting' | 'fenced' | 'gap' | 'stopped';

export type PartitionStatus = {
  readonly topic: string;
  readonly partition: number;
  readonly state: PartitionState;
  /** Why, for every state but `starting` and `following`. */
  readonly reason: string | undefined;
  /** The next offset to handle, as committed. */
  readonly offset: number;
  /** The log's end as last seen. */
  readonly end: number;
  readonly epoch: number;
  readonly origin: string;
  /** Parked entries of this partition. */
  readonly parked: number;
};

export type SubscriptionStatus = {
  readonly subscription: string;
  readonly kind: 'projection' | 'reactor' | 'keeper';
  /** `undefined` unless the subscription as a whole cannot run. */
  readonly stopped: string | undefined;
  /** Commits taken from the log since the start of this process. */
  readonly taken: number;
  readonly partitions: readonly PartitionStatus[];
};

/** What `caughtUp` found: where every partition stands against the ends read when it was asked. */
export type CatchUp = {
  /** Whether every partition reached its end. */
  readonly isComplete: boolean;
  readonly subscriptions: readonly SubscriptionStatus[];
};
