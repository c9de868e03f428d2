import { TidemarkError } from '../runtime/errors.ts';
import { formatInstant, parseInstant } from '../runtime/instant.ts';
import type { SubscriptionStatus } from './status.ts';

/** Where a subscription begins while it has no checkpoint. */
export type Start =
  | { readonly kind: 'beginning' }
  | { readonly kind: 'end' }
  /** The first record stamped at or after it, then everything behind that one. */
  | { readonly kind: 'instant'; readonly instantMs: number };

type SubscriptionKind = SubscriptionStatus['kind'];

/** Who chose a start. */
export type StartSource = 'config' | 'code' | `${SubscriptionKind} default`;

/** A text that should say where to start does not. */
export class StartMalformedError extends TidemarkError {
  readonly code = 'START_MALFORMED';
}

/**
 * Reads `beginning`, `end` or an ISO-8601 instant with zone. Throws `START_MALFORMED`, or `INSTANT_MALFORMED` for what is
 * meant as an instant but is none or has no zone.
 */
export function parseStart(text: string): Start {
  if (text === 'beginning' || text === 'end') return { kind: text };
  if (/^\d/.test(text)) return { kind: 'instant', instantMs: parseInstant(text) };
  throw new StartMalformedError(`${JSON.stringify(text.slice(0, 100))} is not a start`, {
    hint: 'Write beginning, end, or an instant with its zone such as 2026-11-01T01:30:00Z.',
  });
}

/** The start in the form that `parseStart` reads. */
export function formatStart(start: Start): string {
  return start.kind === 'instant' ? formatInstant(start.instantMs) : start.kind;
}

/**
 * Where a kind starts if nobody says otherwise. A projection needs all of the past; a reactor acts on what happens from
 * now on in its own context, and takes over what another context published for it.
 */
export function defaultStart(kind: SubscriptionKind, isForeign: boolean): Start {
  switch (kind) {
    case 'projection':
    case 'keeper':
      return { kind: 'beginning' };
    case 'reactor':
      return { kind: isForeign ? 'beginning' : 'end' };
  }
}

/** Where a position came from, as status shows it: `start: end (reactor default)`. */
export function originOf(start: Start, source: StartSource): string {
  return `start: ${formatStart(start)} (${source})`;
}
