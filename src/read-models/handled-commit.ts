import type { RefKey } from '../log/ref.ts';
import type { Write } from './write.ts';

/** What one call of a handler returned, canonical. `eventIndex` is `EVENT_INDEX_STATE` for whole-commit handlers. */
export type HandlerCall = { readonly eventIndex: number; readonly writes: readonly Write[] };

/** A commit after its handlers ran. No calls: nobody wanted it, only its version was seen. */
export type HandledCommit = {
  readonly ref: RefKey;
  /** `context.aggregate` as the aggregate was declared. */
  readonly aggregate: string;
  readonly version: number;
  readonly calls: readonly HandlerCall[];
  /** Size of the record it came from: what keeping its writes in memory is charged with. */
  readonly bytes: number;
};
