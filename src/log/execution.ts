import { sha256 } from '../runtime/sha256.ts';
import { encodePart } from './identity-part.ts';
import type { RefKey } from './ref.ts';

/** Longer ones do not fit where outside systems keep idempotency keys. */
const lengthMax = 255;
/** With the hash and an event index behind it a head stays within `lengthMax`. */
const headLength = 180;

/**
 * Names what one subscription does for one commit: `subscription:ref@version`, the same on every attempt, replay, process
 * and node. Printable ASCII (it goes into HTTP headers), at most 255 characters: a longer one is its readable head, `~` and
 * the SHA-256 of the whole. Injective up to the hash: no whole one ends as a hashed one does. Throws `TEXT_ILL_FORMED`.
 */
export function executionId(subscription: string, ref: RefKey, version: number): string {
  return bounded(ascii(`${encodePart(subscription)}:${ref}@${version}`));
}

/**
 * Names one handler call: the execution itself for handlers of whole commits, with `:eventIndex` for handlers of events.
 * Bounded like `executionId`.
 */
export function invocationKey(execution: string, eventIndex?: number): string {
  return eventIndex === undefined ? execution : bounded(`${execution}:${eventIndex}`);
}

/** Adds no ambiguity: in a ref's key a percent sign only ever stands for an encoded character. */
function ascii(text: string): string {
  return text.replace(/[^ -~]+/g, encodeURIComponent);
}

function bounded(text: string): string {
  return text.length <= lengthMax ? text : `${text.slice(0, headLength)}~${sha256(text)}`;
}
