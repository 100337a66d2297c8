import { tenTo } from '../../text/decimal-text.ts';
import { microsecondsOf, momentOf } from '../../time/moment.ts';
import { readTimestamp } from '../../time/timestamp-text.ts';
import { plainDecimal } from './numbers.ts';
import { TimePattern, type ReadTime } from './time-pattern.ts';

/** Units of times that are counted since the epoch, by the power of ten that a second has of them. */
const epochUnits = { epoch_s: 0, epoch_ms: 3, epoch_us: 6, epoch_ns: 9 } as const;
const microsecondPlaces = 6;
const earliest = microsecondsOf('0001-01-01T00:00:00Z') as bigint;
const latest = microsecondsOf('9999-12-31T23:59:59.999999Z') as bigint;

/** Landing refuses moments of the future; here the calendar itself is the bound. */
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
  const minutes = new Minutes(zone);
  return (text) => {
    const read = pattern.read(text);
    return read && (minutes.momentOf(read) ?? momentText(`${read.local}${read.offset}`, zone));
  };
}

/** Minutes that are remembered: a log has most of its times in a few. */
const maxMinutes = 10_000;
const isSecond = /^[0-5]\d$/;

/** Moments of times by their minutes, as looking an offset up takes most of the time of reading one. */
class Minutes {
  readonly #zone: string | undefined;
  /** Beginning of a moment up to its seconds, by the time up to its own; empty where seconds are not the same. */
  readonly #known = new Map<string, string>();

  constructor(zone: string | undefined) {
    this.#zone = zone;
  }

  /** Undefined for a time that is to be read digit by digit. */
  momentOf({ local, offset }: ReadTime): string | undefined {
    if (local.length !== 19 || !isSecond.test(local.slice(17))) return undefined;
    const key = local.slice(0, 17) + offset;
    let known = this.#known.get(key);
    if (known === undefined) {
      const moment = momentText(`${local.slice(0, 17)}00${offset}`, this.#zone);
      known = moment?.endsWith(':00Z') ? moment.slice(0, 17) : '';
      if (this.#known.size >= maxMinutes) this.#known.clear();
      this.#known.set(key, known);
    }
    return known === '' ? undefined : `${known}${local.slice(17)}Z`;
  }
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
