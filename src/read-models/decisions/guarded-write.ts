import type { RefKey } from '../../log/ref.ts';
import type { Write } from '../write.ts';

/** A write and what its guard will say. */
export type GuardedWrite<Own extends Write = Write> = {
  readonly ref: RefKey;
  /** `context.aggregate` of the ref. */
  readonly aggregate: string;
  readonly version: number;
  readonly eventIndex: number;
  readonly write: Own;
};

/** Whether a write is strictly newer than what a guard stands for. */
export function isNewer(write: EventPlace, guard: EventPlace): boolean {
  if (write.version !== guard.version) return write.version > guard.version;
  return write.eventIndex > guard.eventIndex;
}

type EventPlace = { readonly version: number; readonly eventIndex: number };
