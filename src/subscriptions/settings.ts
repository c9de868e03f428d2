/** How one subscription runs. Every bound has a unit, a default and a config key of the same name. */
export type SubscriptionSettings = {
  /** `beginning`, `end` or an ISO-8601 instant with zone; `undefined`: the code's, else the kind's default. */
  readonly start: string | undefined;
  readonly batch: {
    /** Commits a window may hold. */
    readonly records: number;
    /** Bytes of records whose writes a window may keep in memory. */
    readonly bytes: number;
    /** How long a window that reached the end of the log waits for more, milliseconds. */
    readonly waitMs: number;
    /** How long a window that is behind gathers, milliseconds: then it is committed, full or not. */
    readonly gatherMs: number;
  };
  readonly transaction: {
    /** Rows and source records in one transaction while near the end of the log. */
    readonly liveDocuments: number;
    /** The same while behind. */
    readonly behindDocuments: number;
    readonly bytes: number;
  };
  readonly checkpoint: {
    /** A position that only moved over records nobody wants is saved after this many of them … */
    readonly records: number;
    /** … or after this time, milliseconds. */
    readonly intervalMs: number;
  };
  readonly parked: {
    /** Parked commits per aggregate; at the bound the partition stops. */
    readonly perAggregate: number;
    /** Parked commits per subscription; at the bound the subscription stops. */
    readonly perSubscription: number;
  };
};

export const defaultSettings: SubscriptionSettings = {
  start: undefined,
  batch: { records: 100_000, bytes: 64 * 1024 * 1024, waitMs: 0, gatherMs: 5_000 },
  transaction: { liveDocuments: 500, behindDocuments: 5_000, bytes: 8 * 1024 * 1024 },
  checkpoint: { records: 10_000, intervalMs: 1_000 },
  parked: { perAggregate: 10_000, perSubscription: 100_000 },
};
