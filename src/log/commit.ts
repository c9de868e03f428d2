import type { Ref, RefKey } from './ref.ts';

/** One fact inside a commit; its 0-based place there is its event index. */
export type CommittedEvent = {
  readonly id: string;
  readonly name: string;
  readonly revision: string;
  readonly bodyType: string;
  readonly body: unknown;
};

export type ReservationKey = { readonly namespace: string; readonly key: string };

/** What a commit says of unique keys (design: reservations). */
export type CommitReservations = {
  readonly attempt: string;
  readonly held: readonly ReservationKey[];
  readonly released: readonly ReservationKey[];
};

/**
 * What one command appended to one aggregate: one or more events, one version, optionally the state after it.
 * Missing optional members have the values of the record format: tenant `(0)`, owner and space empty, header `{}`.
 */
export type Commit = {
  readonly id: string;
  readonly ref: Ref;
  /** `refOf(ref)`, computed once. */
  readonly refKey: RefKey;
  readonly ownerId: string;
  readonly spaceId: string;
  readonly commandId: string;
  readonly requestId: string;
  /** ≥ 1; +1 per commit of the aggregate. */
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly createTime: number;
  readonly header: Readonly<Record<string, string>>;
  /** At least one. */
  readonly events: readonly CommittedEvent[];
  /** Whether the record carries the state after the commit. */
  readonly hasState: boolean;
  readonly state: unknown;
  readonly firstOperator: string;
  readonly firstEventTime: number;
  readonly tags: Readonly<Record<string, unknown>>;
  readonly deleted: boolean;
  readonly reservations: CommitReservations | undefined;
};
