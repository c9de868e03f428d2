import type { ListedEntry } from '../../failures/failure-ledger.ts';
import { formatTable } from './table.ts';

/** An entry of the failure ledger as programs read it. */
export function toFailureLine(entry: ListedEntry): Readonly<Record<string, unknown>> {
  const { scope, position, ref, version, commitId, failure, parkedAtMs, bytes } = entry;
  return {
    subscription: scope.subscription,
    topic: position.topic,
    partition: position.partition,
    offset: position.offset,
    ref,
    version,
    commitId,
    // A follower waits behind the head and was never tried.
    role: failure === undefined ? 'follower' : 'head',
    code: failure?.cause.code,
    error: failure?.cause.name,
    message: failure?.cause.message,
    recoverable: failure?.isRecoverable,
    attempts: failure?.attempts,
    firstFailedAt: instant(failure?.firstFailedAtMs),
    lastFailedAt: instant(failure?.lastFailedAtMs),
    nextRetryAt: instant(failure?.nextRetryAtMs),
    parkedAt: instant(parkedAtMs),
    bytes,
  };
}

function instant(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** A table for people: a line per entry. */
export function formatFailures(entries: readonly ListedEntry[]): string {
  return formatTable(
    ['subscription', 'partition', 'offset', 'aggregate', 'version', 'why', 'attempts', 'next retry'],
    entries.map(({ scope, position, ref, version, failure }) => [
      scope.subscription,
      position.partition,
      position.offset,
      ref ?? '(undecodable)',
      version,
      failure === undefined ? 'waits behind the one before' : `${failure.cause.code}: ${failure.cause.message}`,
      failure?.attempts,
      failure === undefined ? '' : (instant(failure.nextRetryAtMs) ?? 'by an operator'),
    ]),
  );
}
