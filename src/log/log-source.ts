import type { Position, TopicPartition } from './position.ts';
import type { LogRecord } from './record.ts';

export type PartitionBounds = {
  readonly partition: number;
  /** Offset of the oldest record that is still there. */
  readonly low: number;
  /** Offset after the last record that may be read. */
  readonly end: number;
};

export type TopicDescription = {
  readonly topic: string;
  /** Changes when the log is another one (recreated topic, other cluster). */
  readonly identity: string;
  /** Empty while the topic does not exist. Ordered by number. */
  readonly partitions: readonly PartitionBounds[];
};

/** Records of one partition in order. `nextOffset` may lie beyond the last record (control records, compaction). */
export type LogBatch = TopicPartition & {
  readonly records: readonly LogRecord[];
  readonly nextOffset: number;
  readonly low: number;
  readonly end: number;
};

export type PullLimits = {
  /** At most this many records. */
  readonly records: number;
  /** At most about this many bytes; one record always fits. */
  readonly bytes: number;
  /** How long to wait for a first record, milliseconds; 0 answers at once. */
  readonly waitMs: number;
};

/** A change of what this process owns. `lost` takes effect before `assigned`. */
export type Assignment = { readonly assigned: readonly TopicPartition[]; readonly lost: readonly TopicPartition[] };

/**
 * One subscription's membership in the log. Nothing of a handler runs inside a driver's callback: everything is pulled.
 * Two sessions may own one partition at once; whoever needs certainty compares epochs.
 */
export interface LogSession {
  /** Changes of ownership, the first one being what is owned at the start. Ends when `signal` aborts or the session stops. */
  assignments(signal: AbortSignal): AsyncIterable<Assignment>;
  /**
   * Records of `from.topic`/`from.partition` from `from.offset` on, in order, with no overlap. Answers with an empty batch
   * after `waitMs`, on abort, or when the session stops meanwhile; one that begins later throws `UnavailableError`. Throws `OffsetOutOfRangeError`, `UnavailableError`, and typed errors of its own where
   * records cannot be read at all: they stay until an operator acts.
   */
  pull(from: Position, limits: PullLimits, signal: AbortSignal): Promise<LogBatch>;
  /** Leaves the membership; idempotent. */
  stop(): Promise<void>;
}

/** Where commits are read from. Errors are typed: `OffsetOutOfRangeError`, `UnavailableError`. */
export interface LogSource {
  /**
   * All partitions, or those of the given numbers that exist; with the bounds of each, or it throws: what cannot be told of
   * a partition makes the whole answer unavailable.
   */
  describe(topic: string, partitions?: readonly number[]): Promise<TopicDescription>;
  /** Per partition the lowest offset stamped at or after `instantMs`, else the partition's end. */
  offsetsAt(topic: string, instantMs: number): Promise<ReadonlyMap<number, number>>;
  /** Joins as `subscription`. No I/O before the first `assignments` or `pull`. */
  open(subscription: string, topics: readonly string[]): LogSession;
  /** One record on demand; `undefined` if it is not there. */
  readAt(position: Position): Promise<LogRecord | undefined>;
  /** Notes where a subscription stands, to be told to lag tools in time; best effort, never read back. */
  mirror(subscription: string, position: Position): void;
}
