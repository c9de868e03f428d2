import { assert } from './assert.ts';
import { TidemarkError } from './errors.ts';

/** A text that should be a span of time is not. */
export class DurationMalformedError extends TidemarkError {
  readonly code = 'DURATION_MALFORMED';
}

const units = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'm', ms: 60_000 },
  { name: 's', ms: 1_000 },
  { name: 'ms', ms: 1 },
] as const;

const pattern = /^(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/**
 * Milliseconds of a span such as `30s`, `20ms`, `1h30m` or `30d`: whole numbers with the units d, h, m, s, ms, the larger
 * first. Throws `DURATION_MALFORMED`, also for a number without a unit.
 */
export function parseDuration(text: string): number {
  const amounts = text === '' ? null : pattern.exec(text);
  const ms =
    amounts === null ? Number.NaN : units.reduce((sum, unit, i) => sum + Number(amounts[i + 1] ?? 0) * unit.ms, 0);
  if (!Number.isSafeInteger(ms)) {
    throw new DurationMalformedError(`${JSON.stringify(text.slice(0, 100))} is not a duration`, {
      hint: /^\d+$/.test(text)
        ? `Say the unit: ${text}ms or ${text}s.`
        : 'Write whole numbers with the units d, h, m, s, ms, the larger first: 500ms, 30s, 1h30m, 30d.',
    });
  }
  return ms;
}

/** The span in the form that `parseDuration` reads, rounded to whole milliseconds: `1h30m`, `0ms`. */
export function formatDuration(ms: number): string {
  assert(Number.isFinite(ms) && ms >= 0, 'a duration is finite and not negative', { ms });
  let rest = Math.round(ms);
  let text = '';
  for (const unit of units) {
    const amount = Math.floor(rest / unit.ms);
    rest -= amount * unit.ms;
    if (amount > 0) text += `${amount}${unit.name}`;
  }
  return text === '' ? '0ms' : text;
}
