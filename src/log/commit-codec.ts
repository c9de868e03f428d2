import type { Commit } from './commit.ts';
import type { LogRecord } from './record.ts';

/**
 * What a record turned out to be. `aggregateId` of an undecodable one is its readable key: with it, everything of that
 * aggregate id waits behind the record; without it the record stands alone.
 */
export type Decoded =
  | { readonly kind: 'commit'; readonly commit: Commit }
  | { readonly kind: 'tombstone' }
  | { readonly kind: 'undecodable'; readonly reason: string; readonly aggregateId: string | undefined };

/** Reads commits out of records. Pure and total: never throws, on any bytes, and never touches prototypes. */
export interface CommitCodec {
  decode(record: LogRecord): Decoded;
}
