import { assert } from './assert.ts';
import { TidemarkError } from './errors.ts';

/** A text that should be an instant is not, or leaves open which instant it means. */
export class InstantMalformedError extends TidemarkError {
  readonly code = 'INSTANT_MALFORMED';
}

const pattern =
  /^(?<date>\d{4}-\d\d-\d\d)(?:T(?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:\.(?<fraction>\d{1,9}))?)?)?(?<zone>Z|[+-]\d\d:\d\d)?$/;

/**
 * Milliseconds since the epoch of an ISO-8601 instant such as `2026-11-01T01:30:00Z` or `2026-11-01T03:30+02:00`. A part
 * of a millisecond rounds up: what is stamped at or after the result is stamped at or after the instant.
 * Throws `INSTANT_MALFORMED`, also where `Z` or the offset is missing: such a text means another instant on every machine.
 */
export function parseInstant(text: string): number {
  const found = pattern.exec(text)?.groups;
  if (found === undefined) {
    throw malformed(text, 'is not an instant', 'Write it in ISO-8601 with a zone, for example 2026-11-01T01:30:00Z.');
  }
  const { date = '', hour, minute = '', second = '00', fraction = '', zone } = found;
  if (hour === undefined) {
    throw malformed(
      text,
      'names a day, not an instant',
      `Write the time and the zone too, for example ${date}T00:00:00Z.`,
    );
  }
  if (zone === undefined) {
    throw malformed(
      text,
      'has no zone',
      `Write ${text}Z if it is in UTC, or add the offset, for example ${text}+02:00.`,
    );
  }
  const days = daysOf(date);
  if (days === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) {
    throw malformed(
      text,
      'is no day or time of the calendar',
      'Days, hours 00 to 23, minutes and seconds 00 to 59 must exist.',
    );
  }
  const offsetMinutes = minutesOf(zone);
  if (offsetMinutes === undefined) {
    throw malformed(text, 'has an impossible offset', 'Offsets go from -23:59 to +23:59.');
  }
  const minutes = days * 1_440 + Number(hour) * 60 + Number(minute) - offsetMinutes;
  return minutes * 60_000 + Number(second) * 1_000 + Math.ceil(Number(fraction.padEnd(9, '0')) / 1_000_000);
}

/** The instant in UTC: `2026-11-01T01:30:00Z`, with milliseconds where there are some. */
export function formatInstant(ms: number): string {
  assert(Number.isSafeInteger(ms), 'an instant is a whole number of milliseconds', { ms });
  const days = Math.floor(ms / 86_400_000);
  const inDay = ms - days * 86_400_000;
  const [hour, minute, second] = [inDay / 3_600_000, (inDay / 60_000) % 60, (inDay / 1_000) % 60].map((part) =>
    digits(Math.floor(part), 2),
  );
  const millisecond = inDay % 1_000;
  return `${dateOf(days)}T${hour}:${minute}:${second}${millisecond === 0 ? '' : `.${digits(millisecond, 3)}`}Z`;
}

function malformed(text: string, what: string, hint: string): InstantMalformedError {
  return new InstantMalformedError(`${JSON.stringify(text.slice(0, 100))} ${what}`, { hint });
}

/** Minutes that a zone is ahead of UTC. */
function minutesOf(zone: string): number | undefined {
  if (zone === 'Z') return 0;
  const [hour, minute] = [Number(zone.slice(1, 3)), Number(zone.slice(4))];
  if (hour > 23 || minute > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hour * 60 + minute);
}

/** Days since 1970-01-01 of a day of the Gregorian calendar, which is taken to hold for all time. */
function daysOf(date: string): number | undefined {
  const [year, month, day] = [Number(date.slice(0, 4)), Number(date.slice(5, 7)), Number(date.slice(8))];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  let days = daysBefore(year) + day - 1;
  for (let earlier = 1; earlier < month; earlier += 1) days += daysInMonth(year, earlier);
  return days;
}

function dateOf(days: number): string {
  // At most one off, since leap days are spread unevenly.
  let year = 1970 + Math.floor(days / 365.2425);
  while (daysBefore(year) > days) year -= 1;
  while (daysBefore(year + 1) <= days) year += 1;
  let rest = days - daysBefore(year);
  let month = 1;
  while (rest >= daysInMonth(year, month)) {
    rest -= daysInMonth(year, month);
    month += 1;
  }
  return `${yearText(year)}-${digits(month, 2)}-${digits(rest + 1, 2)}`;
}

/** Years beyond four digits carry a sign and six digits, as ISO-8601 wants it. */
function yearText(year: number): string {
  if (year >= 0 && year <= 9_999) return digits(year, 4);
  return `${year < 0 ? '-' : '+'}${digits(Math.abs(year), 6)}`;
}

/** Days from 1970-01-01 to January 1st of a year. */
function daysBefore(year: number): number {
  const past = year - 1;
  return past * 365 + Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400) - 719_162;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function digits(value: number, width: number): string {
  return String(value).padStart(width, '0');
}
