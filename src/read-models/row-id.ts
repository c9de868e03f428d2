import { encodePart, IllFormedTextError } from '../log/identity-part.ts';
import { TidemarkError } from '../runtime/errors.ts';

/** Something that cannot name a row was given as its id. */
export class RowIdInvalidError extends TidemarkError {
  readonly code = 'ROW_ID_INVALID';
}

/**
 * The id of a row. A text is the id itself, unchanged. An array is joined by `/`, each part percent-encoded as in refs, so
 * that two arrays never give one id. A text can spell what an array gives (`'a/b'` is `['a', 'b']`, and `'a'` is `['a']`):
 * a model keeps to one of the two forms, and takes the array where parts are not under its control.
 * Throws `ROW_ID_INVALID` for an empty array and for what is no text, `TEXT_ILL_FORMED` for lone surrogates.
 */
export function rowId(parts: string | readonly string[]): string {
  if (!Array.isArray(parts)) {
    const text = textOf(parts, undefined);
    if (!text.isWellFormed()) throw new IllFormedTextError(text);
    return text;
  }
  if (parts.length === 0) {
    throw new RowIdInvalidError('A row id was given as an empty array', { hint: 'Give at least one part.' });
  }
  // By index, so that holes are met too. This runs once per commit and more: no closure, no array on the way.
  let id = encodePart(textOf(parts[0], 0));
  for (let index = 1; index < parts.length; index += 1) id += `/${encodePart(textOf(parts[index], index))}`;
  return id;
}

/** Ids come out of event bodies, whose types are a promise of the publisher: what arrives may be anything. */
function textOf(value: unknown, index: number | undefined): string {
  if (typeof value === 'string') return value;
  const path = index === undefined ? 'id' : `id[${index}]`;
  throw new RowIdInvalidError(
    `A row id takes texts, but ${path} is ${value === null ? 'null' : `of type ${typeof value}`}`,
    {
      hint: 'Convert it in the handler, for example with String(value), or leave the row out where there is no id.',
    },
  );
}
