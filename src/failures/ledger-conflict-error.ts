import type { Scope } from '../checkpoints/epoch.ts';
import { TidemarkError } from '../runtime/errors.ts';
import type { LedgerEntry } from './failure.ts';

/** A position of the ledger holds another commit than the one to park: the log there is not what it was. */
export class LedgerConflictError extends TidemarkError {
  readonly code = 'LEDGER_CONFLICT';
}

/** Throws `LEDGER_CONFLICT` unless what stands at the entry's position is the same commit. */
export function assertSameCommit(
  { subscription, generation }: Scope,
  standing: Pick<LedgerEntry, 'commitId' | 'version'>,
  { position, commitId, version }: LedgerEntry,
): void {
  if (standing.commitId === commitId && standing.version === version) return;
  const { topic, partition, offset } = position;
  throw new LedgerConflictError(
    `The ledger of ${subscription} holds another commit at offset ${offset} of partition ${partition} of ${topic}.`,
    {
      details: { subscription, generation, ...position, commitId, version },
      hint: 'The log is not the one the entry was parked from. Reset the subscription, or name the right log.',
    },
  );
}
