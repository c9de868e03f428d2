import type { OwnerGuard } from '../guard.ts';
import { ModelKindChangedError } from '../model-error.ts';
import type { RowKey, StoredRow } from '../stored-row.ts';
import type { WriteOf } from '../write.ts';
import type { Refusal } from '../write-plan.ts';
import { type GuardedWrite, isNewer } from './guarded-write.ts';
import { rowForeign, rowHeld } from './refusal.ts';

/** What becomes of a row under a write. */
export type RowOutcome =
  | { readonly kind: 'stands'; readonly row: StoredRow }
  /** What is stored is as new or newer. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/**
 * `rows`: the owner's strictly newer write replaces; a removal leaves a tombstone, also of a row that was never there, so
 * that an older put that comes late does not bring it back.
 */
export function decideRow(found: StoredRow | undefined, guarded: GuardedWrite<WriteOf<'put' | 'remove'>>): RowOutcome {
  const { ref, write } = guarded;
  if (found !== undefined) {
    const guard = ownerGuardOf(found, write);
    if (guard.owner !== ref) return { kind: 'refused', refusal: rowForeign(write, ref, guard.owner) };
    if (!isNewer(guarded, guard)) return { kind: 'stale' };
  }
  return { kind: 'stands', row: ownedRow(guarded) };
}

/** `moves`: a row that another aggregate holds is refused for now; a tombstone is anybody's. */
export function decideHold(found: StoredRow | undefined, guarded: GuardedWrite<WriteOf<'put'>>): RowOutcome {
  if (found?.isLive === true) {
    const { owner } = ownerGuardOf(found, guarded.write);
    if (owner !== guarded.ref) return { kind: 'refused', refusal: rowHeld(guarded.write, guarded.ref, owner) };
  }
  return { kind: 'stands', row: ownedRow(guarded) };
}

/** `moves`: the owner lets go of the row. One that is gone, or another's by now, stays as it is. */
export function decideRelease(found: StoredRow | undefined, guarded: GuardedWrite<WriteOf<'remove'>>): RowOutcome {
  if (found === undefined || ownerGuardOf(found, guarded.write).owner !== guarded.ref) return { kind: 'stale' };
  return { kind: 'stands', row: ownedRow(guarded) };
}

function ownedRow({ ref, version, eventIndex, write }: GuardedWrite<WriteOf<'put' | 'remove'>>): StoredRow {
  return {
    id: write.id,
    isLive: write.kind === 'put',
    value: write.kind === 'put' ? write.row : {},
    guard: { kind: 'owner', owner: ref, version, eventIndex },
  };
}

function ownerGuardOf({ guard }: StoredRow, row: RowKey): OwnerGuard {
  if (guard.kind !== 'owner')
    throw new ModelKindChangedError({ model: row.model.name, stored: guard.kind, declared: row.model.kind });
  return guard;
}
