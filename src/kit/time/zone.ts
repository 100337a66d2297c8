import { quoted } from '../text/sql-text.ts';

/** Limit of offsets in timestamps. */
const maxMinutes = 18 * 60;

/**
 * Returns the minutes by which a zone such as `+02:00` is ahead of UTC; undefined for a zone without a fixed offset.
 */
function offsetMinutes(zone: string): number | undefined {
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d)(?::?([0-5]\d))?$/.exec(zone) ?? [];
  if (sign === undefined) return undefined;
  const distance = Number(hours) * 60 + Number(minutes);
  if (distance > maxMinutes) return undefined;
  return sign === '-' ? -distance : distance;
}

/** True for an IANA zone, and for an offset such as `+02:00`. */
export function isTimeZone(name: string): boolean {
  if (/^[+-]/.test(name)) return offsetMinutes(name) !== undefined;
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Error for a text that is no zone. */
export const noTimeZone = 'is neither an IANA time zone such as Europe/Berlin nor an offset such as +02:00';

/** SQL: the moment at which clocks of a zone show this `TIMESTAMP`. DuckDB knows zones by their names only. */
export function momentInZone(timestamp: string, zone: string): string {
  const minutes = offsetMinutes(zone);
  if (minutes === undefined) return `timezone(${quoted(zone)}, ${timestamp})`;
  return `timezone('UTC', ${timestamp} - INTERVAL (${minutes}) MINUTE)`;
}
