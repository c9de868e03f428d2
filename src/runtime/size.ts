import { assert } from './assert.ts';
import { TidemarkError } from './errors.ts';

/** A text that should be a number of bytes is not. */
export class SizeMalformedError extends TidemarkError {
  readonly code = 'SIZE_MALFORMED';
}

const units = [
  { name: 'TiB', bytes: 2 ** 40 },
  { name: 'GiB', bytes: 2 ** 30 },
  { name: 'MiB', bytes: 2 ** 20 },
  { name: 'KiB', bytes: 2 ** 10 },
  { name: 'B', bytes: 1 },
] as const;

/**
 * Bytes of a size such as `8MiB`, `64KiB` or `100B`: a whole number and one unit.
 * Throws `SIZE_MALFORMED`, also for a number without a unit and for decimal units (`MB`).
 */
export function parseSize(text: string): number {
  const [, amount, name] = /^(\d+)([A-Za-z]+)$/.exec(text) ?? [];
  const unit = units.find((candidate) => candidate.name === name);
  const bytes = unit === undefined ? Number.NaN : Number(amount) * unit.bytes;
  if (!Number.isSafeInteger(bytes)) {
    throw new SizeMalformedError(`${JSON.stringify(text.slice(0, 100))} is not a size`, {
      hint: /^\d+$/.test(text)
        ? `Say the unit: ${text}B, ${text}KiB or ${text}MiB.`
        : 'Write a whole number and one of the units B, KiB, MiB, GiB, TiB (powers of 1024): 64KiB, 8MiB.',
    });
  }
  return bytes;
}

/** The size in the form that `parseSize` reads, exactly: in the largest unit that divides it. */
export function formatSize(bytes: number): string {
  assert(Number.isSafeInteger(bytes) && bytes >= 0, 'a size is a whole number of bytes', { bytes });
  const unit = units.find((candidate) => bytes >= candidate.bytes && bytes % candidate.bytes === 0);
  return unit === undefined ? '0B' : `${bytes / unit.bytes}${unit.name}`;
}
