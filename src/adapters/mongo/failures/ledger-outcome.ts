import type { Scope } from '../../../checkpoints/epoch.ts';
import type { Failure, LedgerChange, LedgerEntry } from '../../../failures/failure.ts';
import { assertSameCommit } from '../../../failures/ledger-conflict-error.ts';
import { type Position, partitionKey } from '../../../log/position.ts';

/** What is asked of an entry that stands in the ledger. */
export type StandingEntry = Pick<LedgerEntry, 'position' | 'commitId' | 'version'>;

/** What a transaction has to do to the ledger, in this order. */
export type LedgerOutcome = {
  readonly removes: readonly Position[];
  readonly fails: readonly { readonly position: Position; readonly failure: Failure }[];
  readonly inserts: readonly LedgerEntry[];
};

type Place = {
  standing: StandingEntry | undefined;
  /** To be stored. */
  entry: LedgerEntry | undefined;
  failure: Failure | undefined;
};

function positionKeyOf(position: Position): string {
  return `${position.offset}:${partitionKey(position)}`;
}

/**
 * What changes of the ledger come to, made one after the other on what stands there. Throws `LEDGER_CONFLICT` where a
 * position holds another commit.
 */
export function decideLedger(
  scope: Scope,
  changes: readonly LedgerChange[],
  standing: readonly StandingEntry[],
): LedgerOutcome {
  const places = new Map<string, Place>();
  for (const each of standing) {
    places.set(positionKeyOf(each.position), { standing: each, entry: undefined, failure: undefined });
  }
  for (const change of changes) apply(scope, places, change);
  const removes: Position[] = [];
  const fails: { position: Position; failure: Failure }[] = [];
  const inserts: LedgerEntry[] = [];
  for (const { position } of standing) {
    const place = places.get(positionKeyOf(position));
    if (place === undefined) continue;
    if (place.standing === undefined || place.entry !== undefined) removes.push(position);
    else if (place.failure !== undefined) fails.push({ position, failure: place.failure });
  }
  for (const { entry, failure } of places.values()) {
    if (entry !== undefined) inserts.push(failure === undefined ? entry : { ...entry, failure });
  }
  return { removes, fails, inserts };
}

function apply(scope: Scope, places: Map<string, Place>, change: LedgerChange): void {
  const position = change.kind === 'park' ? change.entry.position : change.position;
  const key = positionKeyOf(position);
  const place = places.get(key);
  switch (change.kind) {
    case 'park':
      if (place?.standing !== undefined) return assertSameCommit(scope, place.standing, change.entry);
      places.set(key, { standing: change.entry, entry: change.entry, failure: undefined });
      return;
    case 'fail':
      if (place?.standing !== undefined) place.failure = change.failure;
      return;
    case 'remove':
      if (place !== undefined) places.set(key, { standing: undefined, entry: undefined, failure: undefined });
      return;
    default:
      change satisfies never;
  }
}
