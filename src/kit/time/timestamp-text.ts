import { microsecondsOf, momentOf, type Moment } from './moment.ts';
import { zonedTime } from './zoned-time.ts';

type TimestampFault = 'timestamp_without_offset' | 'future_timestamp' | 'malformed';

const dayMicroseconds = 86_400_000_000n;
/** Four digits of year are all that RFC 3339 has; a shift by the offset may lead out of them. */
const earliest = microsecondsOf('0001-01-01T00:00:00Z') as bigint;
const latest = microsecondsOf('9999-12-31T23:59:59.999999Z') as bigint;

/** The form of a moment without a fraction: a text that reads so, and reads well, need not be written again. */
const isMoment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\dZ$/;

/**
 * Reads a source's timestamp: RFC 3339 with seconds; an offset up to ±18:00; a space for the `T` is fine; digits past
 * microseconds are cut. Text without an offset is understood in `timeZone`, and without one refused.
 * A leap second counts as the microsecond before it, where there can be one: at the end of a month, UTC.
 * More than 24 hours after `wallClock` is refused too.
 */
export function readTimestamp(
  text: string,
  wallClock: Date,
  timeZone?: string,
): { moment: Moment } | { fault: TimestampFault } {
  let micros = readMicroseconds(text, timeZone);
  if (micros === 'malformed') {
    micros = readMicroseconds(text.replace(/:60(\.\d+)?/, ':59.999999'), timeZone);
    if (typeof micros === 'bigint' && !momentOf(micros + 1n).endsWith('-01T00:00:00Z')) return { fault: 'malformed' };
  }
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
