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

/** Days that exist: by the length of their month, and 29 February of leap years. */
const day = [
  '[0-9]{4}-(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])',
  '[0-9]{4}-(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)',
  '[0-9]{4}-02-(?:0[1-9]|1[0-9]|2[0-8])',
  '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29',
].join('|');
const hourAndMinute = '(?:[01][0-9]|2[0-3]):[0-5][0-9]';
const seconds = ':[0-5][0-9](?:\\.[0-9]+)?';
/** At most 18 hours either way, as for every timestamp that offerline reads. A space is a `+` that was sent unescaped in a query. */
const offset = 'Z|[+ -](?:(?:0[0-9]|1[0-7])(?::?[0-5][0-9])?|18(?::?00)?)';

/** An ISO 8601 date or date-time that exists, as a regular expression that the publishers' documentation can show too. */
export const momentPattern = `^(${day})(?:[T ](${hourAndMinute})(${seconds})?(${offset})?)?$`;
const moment = new RegExp(momentPattern);

/**
 * Reads an ISO 8601 date or date-time that a publisher sent; without an offset it is UTC, digits past microseconds
 * are cut. Undefined when it is no such date.
 */
export function parseMoment(text: string): Microseconds | undefined {
  const match = moment.exec(text);
  if (match === null) return undefined;
  const [, date, hourAndMinuteText = '00:00', secondsText = ':00', offsetText = 'Z'] = match;
  const milliseconds = Date.parse(`${date}T${hourAndMinuteText}${secondsText.slice(0, 3)}Z`);
  return (milliseconds - offsetMinutes(offsetText) * 60_000) * 1000 + fractionMicroseconds(secondsText.slice(4));
}

/** Minutes east of UTC. */
function offsetMinutes(text: string): number {
  if (text === 'Z') return 0;
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(3).replace(':', ''));
  return text.startsWith('-') ? -minutes : minutes;
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
