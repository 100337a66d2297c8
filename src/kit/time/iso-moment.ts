import { microsecondsOf } from './moment.ts';

/** A moment as microseconds since the epoch, UTC: as a number, to be compared by the thousand. */
export type Microseconds = number;

/** Days that exist: by the length of their month, and 29 February of leap years. */
const day = [
  '[0-9]{4}-(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])',
  '[0-9]{4}-(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)',
  '[0-9]{4}-02-(?:0[1-9]|1[0-9]|2[0-8])',
  '(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29',
].join('|');
const hourAndMinute = '(?:[01][0-9]|2[0-3]):[0-5][0-9]';
const seconds = ':[0-5][0-9](?:\\.[0-9]+)?';
/**
 * Offsets of at most 18 hours, as in every timestamp that offerline reads. A space is a `+` that was sent unescaped in
 * a query.
 */
const offset = 'Z|[+ -](?:(?:0[0-9]|1[0-7])(?::?[0-5][0-9])?|18(?::?00)?)';

/**
 * An ISO 8601 date or date-time that exists, as a regular expression that the publishers' documentation can show too.
 */
export const isoMomentPattern = `^(${day})(?:[T ](${hourAndMinute})(${seconds})?(${offset})?)?$`;
/** A UTC day that exists. */
export const isoDayPattern = `^(?:${day})$`;
const isoMoment = new RegExp(isoMomentPattern);

/**
 * Reads an ISO 8601 date or date-time that a publisher sent; without an offset it is UTC, digits past microseconds
 * are cut. Undefined when it is no such date.
 */
export function parseIsoMoment(text: string): Microseconds | undefined {
  const match = isoMoment.exec(text);
  if (match === null) return undefined;
  const [, date, time = '00:00', second = ':00', offsetText = 'Z'] = match;
  return Number(microsecondsOf(`${date}T${time}${second}${inFull(offsetText)}`));
}

/** Reads an RFC 3339 timestamp with seconds and offset. Throws `RangeError` for anything else. */
export function microsecondsNumber(timestamp: string): Microseconds {
  const microseconds = microsecondsOf(timestamp);
  if (microseconds === null) throw new RangeError(`"${timestamp}" is not a moment`);
  return Number(microseconds);
}

/** Writes the offset of a UTC timestamp as `+00:00`, as publishers receive it. */
export function withOffset(timestamp: string): string {
  return timestamp.replace(/Z$/, '+00:00');
}

/** Writes an offset as RFC 3339 has it: ` 02`, `+0200` and `+02` become `+02:00`. */
function inFull(offsetText: string): string {
  if (offsetText === 'Z') return 'Z';
  const sign = offsetText.startsWith('-') ? '-' : '+';
  return `${sign}${offsetText.slice(1, 3)}:${offsetText.slice(3).replace(':', '').padEnd(2, '0')}`;
}
