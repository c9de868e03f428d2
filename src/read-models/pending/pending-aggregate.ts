import type { RefKey } from '../../log/ref.ts';
import type { ModelShape } from '../model-shape.ts';
import type { SeenVersions } from '../version-ranges.ts';
import type { WriteOf } from '../write.ts';

/** A commit of which writes are kept in memory; `uses` counts them. */
export type KeptCommit = { readonly aggregate: PendingAggregate; readonly bytes: number; uses: number };

/** A write that is guarded by its row. */
export type RowWrite = WriteOf<'put' | 'remove' | 'part'>;

/** The newest write of an aggregate to a row that is guarded by itself (`rows`, `joined`). */
export type PendingRow = {
  readonly model: ModelShape;
  readonly id: string;
  readonly ref: RefKey;
  readonly aggregate: string;
  version: number;
  eventIndex: number;
  write: RowWrite;
  commit: KeptCommit;
};

/**
 * The newest call of an aggregate in a window. It alone says which rows of `moves` models the aggregate holds and what it
 * contributes to totals; what older calls said is never seen by anybody.
 */
export type DecidingCall = {
  readonly version: number;
  readonly eventIndex: number;
  readonly puts: readonly WriteOf<'put'>[];
  readonly contributes: readonly WriteOf<'contribute'>[];
  readonly commit: KeptCommit;
};

/** What one version adds to totals. */
export type AddedAmounts = { readonly adds: readonly WriteOf<'add'>[]; readonly commit: KeptCommit };

/** What a window keeps of one aggregate. */
export type PendingAggregate = {
  readonly ref: RefKey;
  /** `context.aggregate`. */
  readonly name: string;
  readonly rows: PendingRow[];
  readonly seen: SeenVersions;
  decidingCall: DecidingCall | undefined;
  /** By version: each counts once, and which ones are new is not known before the source record is read. */
  readonly added: Map<number, AddedAmounts>;
  /** Bytes of the commits kept. */
  bytes: number;
};
