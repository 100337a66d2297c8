import { microsecondsOf, momentOf, type Moment } from './moment.ts';
import { zonedTime } from './zoned-time.ts';

type TimestampFault = 'timestamp_without_offset' | 'future_timestamp' | 'malformed';

const dayMicroseconds = 86_400_000_000n;
/** Four digits of year are all that RFC 3339 has; a shift by the offset may lead out of them. */
const earliest = microsecondsOf('0001-01-01T00:00:00Z') as bigint;
const latest = microsecondsOf('9999-12-31T23:59:59.999999Z') as bigint;

/** The form of a moment without a fraction: a text that reads so, and reads well, need not be written again. */
const isMoment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\dZ$/;

/** RFC 3339, and what says the same: no seconds, an offset as `+00`, `+0000`, ` +0000`, ` Z`, ` UTC` or ` GMT`. */
const spelled = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?(?: ?([Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?))?$/i;
/** Digits of a number since the epoch, by its unit: seconds, milli-, micro- and nanoseconds. */
const sinceEpoch = /^(\d{10}|\d{13}|\d{16}|\d{19})(?:\.0+)?$/;

/**
 * Reads a source's timestamp: RFC 3339; an offset up to ±18:00; a space for the `T`, absent seconds and offsets such as
 * `+0000` or ` UTC` are fine; digits past microseconds are cut. Whole numbers of 10, 13, 16 or 19 digits are seconds,
 * milli-, micro- or nanoseconds since the epoch. Text without an offset is understood in `timeZone`, and without one
 * refused.
 * A leap second counts as the microsecond before it, where there can be one: at the end of a month, UTC.
 * More than 24 hours after `wallClock` is refused too.
 */
export function readTimestamp(
  text: string,
  wallClock: Date,
  timeZone?: string,
): { moment: Moment } | { fault: TimestampFault } {
  const read = readMicroseconds(text, timeZone);
  const micros = read === 'malformed' ? readOtherSpelling(text, timeZone) : read;
  if (typeof micros !== 'bigint') return { fault: micros };
  if (micros < earliest || micros > latest) return { fault: 'malformed' };
  const newest = BigInt(wallClock.getTime()) * 1000n + dayMicroseconds;
  return micros > newest ? { fault: 'future_timestamp' } : { moment: isMoment.test(text) ? text : momentOf(micros) };
}

function readMicroseconds(text: string, timeZone: string | undefined): bigint | TimestampFault {
  const micros = microsecondsOf(text);
  if (micros !== null) return micros;
  const clockFace = microsecondsOf(`${text}Z`);
  if (clockFace === null) return 'malformed';
  if (timeZone === undefined) return 'timestamp_without_offset';
  const fraction = ((clockFace % 1000n) + 1000n) % 1000n;
  return BigInt(zonedTime(Number((clockFace - fraction) / 1000n), timeZone)) * 1000n + fraction;
}

/** Reads what is not RFC 3339 by the letter: a number since the epoch, another spelling, a leap second. */
function readOtherSpelling(text: string, timeZone: string | undefined): bigint | TimestampFault {
  const sinceEpochRead = epochMicroseconds(text);
  if (sinceEpochRead !== undefined) return sinceEpochRead;
  const plain = plainSpelling(text) ?? text;
  const micros = readMicroseconds(plain, timeZone);
  if (micros !== 'malformed') return micros;
  const before = readMicroseconds(plain.replace(/:60(\.\d+)?/, ':59.999999'), timeZone);
  return typeof before === 'bigint' && !momentOf(before + 1n).endsWith('-01T00:00:00Z') ? 'malformed' : before;
}

/** Writes a timestamp as RFC 3339 does, without an offset where it has none; undefined for another text. */
function plainSpelling(text: string): string | undefined {
  const [, day, clock, seconds = ':00', offset = ''] = spelled.exec(text) ?? [];
  if (day === undefined) return undefined;
  const [, sign, hours, minutes = '00'] = /^([+-])(\d\d):?(\d\d)?$/.exec(offset) ?? [];
  const zone = sign !== undefined ? `${sign}${hours}:${minutes}` : offset === '' ? '' : 'Z';
  return `${day}T${clock}${seconds}${zone}`;
}

function epochMicroseconds(text: string): bigint | undefined {
  const digits = sinceEpoch.exec(text)?.[1];
  if (digits === undefined) return undefined;
  return digits.length <= 16 ? BigInt(digits.padEnd(16, '0')) : BigInt(digits) / 1000n;
}
