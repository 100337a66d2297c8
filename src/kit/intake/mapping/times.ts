import { tenTo } from '../../text/decimal-text.ts';
import { microsecondsOf, momentOf } from '../../time/moment.ts';
import { readTimestamp } from '../../time/timestamp-text.ts';
import { plainDecimal } from './numbers.ts';
import { TimePattern } from './time-pattern.ts';

/** Units of times that are counted since the epoch, by the power of ten that a second has of them. */
const epochUnits = { epoch_s: 0, epoch_ms: 3, epoch_us: 6, epoch_ns: 9 } as const;
const microsecondPlaces = 6;
const earliest = microsecondsOf('0001-01-01T00:00:00Z') as bigint;
const latest = microsecondsOf('9999-12-31T23:59:59.999999Z') as bigint;

/** Landing refuses what lies in the future; here the calendar itself is the bound. */
const endOfTime = new Date('9999-12-31T23:59:59Z');

/** A time without an offset, as our own logs may write it. */
const ourLocal = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?$/i;

/**
 * Reads a time and writes it as RFC 3339 in UTC, or without an offset where neither the text nor a zone says one.
 * Undefined for a text that is written otherwise or a moment that does not exist.
 */
export type TimeReader = (text: string) => string | undefined;

/** True for a time that says by itself how far it is from UTC, so that a zone would contradict it. */
export function hasOwnOffset(time: string): boolean {
  return isEpochUnit(time) || new TimePattern(time).hasOffset;
}

/**
 * Makes the reader of times in a unit since the epoch or by a pattern of strptime. Without either, times are written as
 * ours are and the zone is that of the ones without an offset; all others are passed on as they stand. Throws
 * `RangeError`, with the problem, for a pattern that cannot be one.
 */
export function timeReader(time: string | undefined, zone: string | undefined): TimeReader {
  if (time === undefined) return (text) => ourTime(text, zone);
  if (isEpochUnit(time)) return (text) => epochTime(text, epochUnits[time]);
  const pattern = new TimePattern(time);
  return (text) => {
    const read = pattern.read(text);
    return read && momentText(`${read.local}${read.offset}`, zone);
  };
}

function isEpochUnit(time: string): time is keyof typeof epochUnits {
  return Object.hasOwn(epochUnits, time);
}

function ourTime(text: string, zone: string | undefined): string | undefined {
  const [, day, minutes, seconds = ':00'] = ourLocal.exec(text.trim()) ?? [];
  return day === undefined ? text : momentText(`${day}T${minutes}${seconds}`, zone);
}

/** Digits past microseconds are cut, as in every timestamp. */
function epochTime(text: string, perSecond: number): string | undefined {
  const number = plainDecimal(text);
  if (number === undefined) return undefined;
  const divisor = tenTo(number.places + perSecond);
  const scaled = number.units * tenTo(microsecondPlaces);
  const rest = ((scaled % divisor) + divisor) % divisor;
  const microseconds = (scaled - rest) / divisor;
  return microseconds < earliest || microseconds > latest ? undefined : momentOf(microseconds);
}

function momentText(timestamp: string, zone: string | undefined): string | undefined {
  const read = readTimestamp(timestamp, endOfTime, zone);
  if ('moment' in read) return read.moment;
  return read.fault === 'timestamp_without_offset' ? timestamp : undefined;
}
