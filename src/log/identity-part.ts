import { TidemarkError } from '../runtime/errors.ts';

/** A text with a lone surrogate was to become part of an identity. Stores and UTF-8 would change it silently. */
export class IllFormedTextError extends TidemarkError {
  readonly code = 'TEXT_ILL_FORMED';

  constructor(text: string) {
    super(`The text ${JSON.stringify(text.slice(0, 100))} holds a lone surrogate`, {
      hint: 'Identities take any Unicode text but halves of surrogate pairs: look for where the text was cut.',
    });
  }
}

/** What separates the parts of identity strings, what escapes, and what is no text for humans (Cc) or not text at all (Cs). */
const special = /[%/@:\p{Cc}\p{Cs}]/u;
const escaped = /[%/@:\p{Cc}]/gu;

/**
 * One part of an identity string: `%`, `/`, `@`, `:` and control characters become percent-encoded UTF-8, the rest stays
 * readable. Injective. Throws `TEXT_ILL_FORMED`.
 */
export function encodePart(text: string): string {
  // Almost every part passes here: this runs once per commit.
  if (!special.test(text)) return text;
  if (!text.isWellFormed()) throw new IllFormedTextError(text);
  return text.replace(escaped, (character) => encodeURIComponent(character));
}

/** As `encodePart`, with `.` encoded too: for names that are joined by a dot. */
export function encodeName(text: string): string {
  return encodePart(text).replaceAll('.', '%2E');
}

/** What `encodePart` or `encodeName` was given; `undefined` where the percent-encoding is broken. Not a check of its form. */
export function decodePart(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
