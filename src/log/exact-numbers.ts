/**
 * Beyond this many digits an integer stays text: converting takes more than linear time, and one record must not stall the
 * others.
 */
const bigintDigitsMax = 10_000;

/** Finds each number that a double may not give back as it was written; also finds some text, which only costs time. */
const inexact = /[[:,\s](?:-0|-?\d+[.eE]|-?\d{16})/;

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** As ECMAScript has it since 2025; the types at hand know revivers without the source text. */
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown;

/**
 * Reads JSON so that no number loses anything: safe integers are numbers, larger ones bigints, and what is written with a
 * fraction, an exponent or as `-0` stays the text it is. The text of each number is `String(value)` of what stands for it.
 * `parsed` is what `JSON.parse` gives for the text, where that is known: it stands where nothing is lost.
 * Throws as `JSON.parse` does, and `RangeError` where nesting is deeper than the stack.
 */
export function parseExact(text: string, parsed: unknown = JSON.parse(text)): unknown {
  return inexact.test(` ${text}`) ? parse(text, toExact) : parsed;
}

function toExact(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined) return value;
  if (Number.isSafeInteger(value) && String(value) === source) return value;
  return /^-?[1-9]\d*$/.test(source) && source.length <= bigintDigitsMax ? BigInt(source) : source;
}
