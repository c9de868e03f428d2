import type { Position } from './position.ts';

/** Text where the log keeps well-formed text, else bytes; `undefined` is a null of the log (a tombstone's value, no key). */
export type RecordText = string | Uint8Array | undefined;

/** A header as the log has it: names may repeat and keep their order. */
export type RecordHeader = readonly [name: string, value: RecordText];

/** One record as the log has it, before anything is read into it. */
export type LogRecord = Position & {
  /** Milliseconds since the epoch; may go back from one record to the next. */
  readonly timestamp: number;
  readonly key: RecordText;
  readonly value: RecordText;
  readonly headers: readonly RecordHeader[];
};
