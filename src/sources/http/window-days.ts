import { TimePattern } from '../../kit/intake/mapping/time-pattern.ts';
import { dateOf, endOfDay, startOfDay, type Day } from '../../kit/time/moment.ts';
import type { TemplateValues } from './request-template.ts';

/** How days of a window are written: seconds or milliseconds since the epoch, or a pattern of strftime. */
export type DateFormat = string;

/** As networks that offerline knows take them. */
export const isoDate: DateFormat = '%Y-%m-%d';

/**
 * Writes the first and the last day of a window for `{from}` and `{to}`. Where the format has a time, they are the
 * beginning of the first and the last second of the last one, in UTC.
 */
export function windowValues(from: Day, to: Day, format: DateFormat): TemplateValues {
  return {
    from: written(dateOf(startOfDay(from)), format),
    to: written(dateOf(endOfDay(to)), format),
  };
}

/** Returns why a text is no format of days; undefined for one. */
export function dateFormatMistake(format: DateFormat): string | undefined {
  if (Object.hasOwn(epochs, format)) return undefined;
  try {
    // What is written has to be a day when it is read. A written Z is true, since days are those of UTC.
    void new TimePattern(format.replace(/(?<!%)(?:Z|UTC|GMT)$/, ''));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const epochs: Readonly<Record<string, (date: Date) => string>> = {
  epoch_s: (date) => String(Math.floor(date.getTime() / 1000)),
  epoch_ms: (date) => String(date.getTime()),
};

function written(date: Date, format: DateFormat): string {
  const epoch = Object.hasOwn(epochs, format) ? epochs[format] : undefined;
  if (epoch !== undefined) return epoch(date);
  return format.replaceAll(/%(.)/g, (_whole, letter: string) => directives[letter]?.(date) ?? '%');
}

function dayOfYear(date: Date): number {
  return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0)) / 86_400_000) + 1;
}

const two = (number: number) => String(number).padStart(2, '0');
const named = (options: Intl.DateTimeFormatOptions) => (date: Date) =>
  new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', ...options }).format(date);

/** The directives that `TimePattern` reads, but for `%%`. */
const directives: Readonly<Record<string, (date: Date) => string>> = {
  Y: (date) => String(date.getUTCFullYear()).padStart(4, '0'),
  y: (date) => two(date.getUTCFullYear() % 100),
  m: (date) => two(date.getUTCMonth() + 1),
  d: (date) => two(date.getUTCDate()),
  e: (date) => String(date.getUTCDate()).padStart(2, ' '),
  j: (date) => String(dayOfYear(date)).padStart(3, '0'),
  H: (date) => two(date.getUTCHours()),
  I: (date) => two(date.getUTCHours() % 12 || 12),
  p: (date) => (date.getUTCHours() < 12 ? 'AM' : 'PM'),
  M: (date) => two(date.getUTCMinutes()),
  S: (date) => two(date.getUTCSeconds()),
  f: (date) => String(date.getUTCMilliseconds()).padStart(3, '0'),
  s: (date) => (epochs['epoch_s'] as (date: Date) => string)(date),
  z: () => '+0000',
  Z: () => 'UTC',
  b: named({ month: 'short' }),
  B: named({ month: 'long' }),
  a: named({ weekday: 'short' }),
  A: named({ weekday: 'long' }),
};
