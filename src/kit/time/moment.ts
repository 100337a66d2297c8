import { UsageError } from '../errors/errors.ts';

/**
 * A point in time as canonical text: UTC, `Z`, and six fraction digits where the microseconds are not
 * zero, none where they are (`2026-11-18T10:00:00Z`, `2026-11-18T10:00:00.123456Z`). The warehouse gives
 * TIMESTAMPTZ in the same form. A `Date` would lose the microseconds. Two moments are equal when their
 * texts are, but their order is not the texts' order: use `compareMoments`.
 */
export type Moment = string;

/** A UTC calendar day, `YYYY-MM-DD`. Days sort as text. */
export type Day = string;

const microsecondsPerSecond = 1_000_000n;
const microsecondsPerDay = 86_400n * microsecondsPerSecond;
const rfc3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
const loose = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?)? ?(Z|UTC|[+-]\d{2}:\d{2})?$/i;
/** The limit of every timestamp, and of every zone in use. */
const maxOffsetMinutes = 18 * 60;

/**
 * Microseconds since the epoch of an RFC 3339 text with seconds and offset; null for anything else. Digits past the
 * sixth are cut.
 */
export function microsecondsOf(text: string): bigint | null {
  const match = rfc3339.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour = '0', offsetMinute = '0'] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  // A date that does not exist, such as 30 February, rolls over into the next month.
  if (date.getUTCMonth() + 1 !== Number(month) || date.getUTCDate() !== Number(day)) return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59 || Number(offsetMinute) > 59) return null;
  const offsetMinutes = (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -1 : 1);
  if (Math.abs(offsetMinutes) > maxOffsetMinutes) return null;
  const seconds = date.getTime() / 1000 + Number(hour) * 3600 + (Number(minute) - offsetMinutes) * 60 + Number(second);
  return BigInt(seconds) * microsecondsPerSecond + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}

/**
 * Reads a time of people's own lists: RFC 3339, or with a blank for the `T`, without seconds, with `UTC` for `Z`.
 * Without an offset it is UTC; a day alone is its beginning. Undefined for anything else.
 */
export function looseMoment(text: string): Moment | undefined {
  const [, day, clock = '00:00', seconds = ':00', offset = 'Z'] = loose.exec(text) ?? [];
  if (day === undefined) return undefined;
  const microseconds = microsecondsOf(`${day}T${clock}${seconds}${offset.toUpperCase() === 'UTC' ? 'Z' : offset}`);
  return microseconds === null ? undefined : momentOf(microseconds);
}

/** The canonical text of microseconds since the epoch. Years 0000 to 9999. */
export function momentOf(microseconds: bigint): Moment {
  const fraction = ((microseconds % microsecondsPerSecond) + microsecondsPerSecond) % microsecondsPerSecond;
  const seconds = new Date(Number((microseconds - fraction) / 1000n)).toISOString().slice(0, 19);
  return fraction === 0n ? `${seconds}Z` : `${seconds}.${String(fraction).padStart(6, '0')}Z`;
}

/** The moment of a clock's milliseconds since the epoch. */
export function momentOfMilliseconds(milliseconds: number): Moment {
  return momentOf(BigInt(Math.trunc(milliseconds)) * 1000n);
}

/** Formats a moment for names of folders: digits up to the second, such as `20261118T100000Z`. */
export function compactText(moment: Moment): string {
  return `${moment.replace(/\..*$|Z$/, '').replaceAll(/[-:]/g, '')}Z`;
}

/** Microseconds in which days before and after a moment have a text, too: years 0001 to 9998. */
const [firstOption, afterOptions] = [Date.parse('0001-01-01'), Date.parse('9999-01-01')].map(
  (time) => BigInt(time) * 1000n,
) as [bigint, bigint];

/**
 * Reads `--as-of`: RFC 3339 with seconds and `Z` or an offset, of the years 0001 to 9998. Throws `UsageError` with an
 * example.
 */
export function momentOption(text: string, option = '--as-of'): Moment {
  const microseconds = microsecondsOf(text);
  if (microseconds === null) {
    throw new UsageError(
      `${option} "${text}" is not a time with seconds and an offset; write it like 2026-11-18T10:00:00Z or 2026-11-18T11:00:00+01:00`,
    );
  }
  if (microseconds < firstOption || microseconds >= afterOptions)
    throw new UsageError(`${option} "${text}" is not in the years 0001 to 9998; write it like 2026-11-18T10:00:00Z`);
  return momentOf(microseconds);
}

/** Negative when `left` is earlier, 0 when equal, positive when later. */
export function compareMoments(left: Moment, right: Moment): number {
  const difference = exact(left) - exact(right);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** The moment so many microseconds later, or earlier when negative. */
export function shiftMoment(moment: Moment, microseconds: bigint): Moment {
  return momentOf(exact(moment) + microseconds);
}

/** Converts to a `Date`, the microseconds cut to milliseconds. */
export function dateOf(moment: Moment): Date {
  return new Date(Number(exact(moment) / 1000n));
}

/** The UTC day that holds the moment. */
export function dayOf(moment: Moment): Day {
  return momentOf(exact(moment)).slice(0, 10);
}

export function startOfDay(day: Day): Moment {
  return `${existing(day)}T00:00:00Z`;
}

/** The last microsecond of the day. */
export function endOfDay(day: Day): Moment {
  return `${existing(day)}T23:59:59.999999Z`;
}

/** The day so many days later, or earlier when negative. */
export function addDays(day: Day, days: number): Day {
  return dayOf(momentOf(exact(startOfDay(day)) + BigInt(days) * microsecondsPerDay));
}

/** Reads an option's `YYYY-MM-DD`. Throws `UsageError` with an example. */
export function dayOption(text: string, option: string): Day {
  if (!isDay(text)) throw new UsageError(`${option} "${text}" is not a day; write it like 2026-11-18`);
  return text;
}

function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && microsecondsOf(`${text}T00:00:00Z`) !== null;
}

function existing(day: Day): Day {
  if (!isDay(day)) throw new RangeError(`"${day}" is not a day`);
  return day;
}

function exact(moment: Moment): bigint {
  const microseconds = microsecondsOf(moment);
  if (microseconds === null) throw new RangeError(`"${moment}" is not a moment`);
  return microseconds;
}
