/** A moment as microseconds since the epoch, UTC. */
export type Microseconds = number;

/** Reads a feed's timestamp: RFC 3339 in UTC with `Z` and up to 6 decimal places of a second. */
export function microsecondsOf(timestamp: string): Microseconds {
  return Date.parse(`${timestamp.slice(0, 19)}Z`) * 1000 + fractionMicroseconds(timestamp.slice(20, -1));
}

/** A UTC timestamp with `Z` as Variant C writes it: with the offset spelled out. */
export function withOffset(timestamp: string): string {
  return timestamp.replace(/Z$/, '+00:00');
}

const dateTime = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.(\d+))?)?(Z|[+ -]\d\d(?::?\d\d)?)?)?$/;

/**
 * Reads an ISO 8601 date or date-time that a publisher sent; without an offset it is UTC, digits past microseconds
 * are cut. A space before the offset is a `+` that was sent unescaped in a query string.
 * Undefined when it is no such date.
 */
export function parseMoment(text: string): Microseconds | undefined {
  const match = dateTime.exec(text);
  if (match === null) return undefined;
  const [, date, hourAndMinute = '00:00', seconds = ':00', fraction = '', offset = 'Z'] = match;
  const wall = `${date}T${hourAndMinute}${seconds.slice(0, 3)}`;
  const milliseconds = Date.parse(`${wall}Z`);
  // Date.parse lets 31 February and 24:00 roll over into another day.
  if (Number.isNaN(milliseconds) || new Date(milliseconds).toISOString().slice(0, 19) !== wall) return undefined;
  const minutes = offsetMinutes(offset);
  if (minutes === undefined) return undefined;
  return (milliseconds - minutes * 60_000) * 1000 + fractionMicroseconds(fraction);
}

/** Minutes east of UTC, at most 18 hours either way as for every timestamp that offerline reads. */
function offsetMinutes(offset: string): number | undefined {
  if (offset === 'Z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(3).replace(':', '') || '0');
  const total = hours * 60 + minutes;
  if (minutes > 59 || total > 18 * 60) return undefined;
  return offset.startsWith('-') ? -total : total;
}

function fractionMicroseconds(digits: string): number {
  return Number(digits.slice(0, 6).padEnd(6, '0'));
}

/** The UTC dates of the two calendar days that the figures as of a moment cover. */
export function windowOf(asOf: string): { yesterday: string; today: string } {
  const today = new Date(asOf);
  const yesterday = new Date(today.getTime() - 24 * 60 * 60 * 1000);
  return { yesterday: yesterday.toISOString().slice(0, 10), today: today.toISOString().slice(0, 10) };
}
