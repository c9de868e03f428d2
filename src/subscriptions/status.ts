/**
 * | state | meaning |
 * | --- | --- |
 * | starting | claiming, reading the checkpoint and the ledger |
 * | following | handling what the log holds |
 * | waiting | the store or the log cannot be reached, or older partitions go first; goes on by itself |
 * | fenced | another owner took over; claims again after a backoff |
 * | gap | the log lost what comes next; an operator must act |
 * | stopped | a bound was reached, the log is another one, or a store or log refuses for good; the reason says whether it goes
 *   on by itself |
 *
 * A partition in `gap` or `stopped` notices within seconds when its stored epoch moves (a reset), and goes on from there.
 */
export type PartitionState = 'starting' | 'following' | 'waiting' | 'fenced' | 'gap' | 'stopped';

export type PartitionStatus = {
  readonly topic: string;
  readonly partition: number;
  readonly state: PartitionState;
  /** Why, for every state but `starting` and `following`. */
  readonly reason: string | undefined;
  /** Everything below is done or parked; while a claim is waited for, where the partition begins or last stood. */
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
  /** The code of the error that stopped it; `undefined` at a bound. */
  readonly stoppedBy: string | undefined;
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
