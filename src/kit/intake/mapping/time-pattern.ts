const months = ['January', 'February', 'March', 'April', 'May', 'June'].concat([
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]);
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** What a directive takes: with a fixed number of digits where others follow it at once. */
interface Directive {
  /** Part of the time that it holds; absent for one that says nothing. */
  part?: string;
  loose: string;
  fixed?: string;
}

const digits = (part: string, range: string, fixed: string): Directive => ({ part, loose: range, fixed });
const names = (part: string | undefined, list: readonly string[]): Directive => ({
  ...(part === undefined ? {} : { part }),
  loose: list.flatMap((name) => [name, name.slice(0, 3)]).join('|'),
});

const day = digits('day', String.raw`3[01]|[12]\d|[0 ]?[1-9]`, String.raw`3[01]|[12]\d|[0 ][1-9]`);
/** The directives of strptime, names in English. */
const directives: Record<string, Directive> = {
  Y: digits('year', String.raw`\d{4}`, String.raw`\d{4}`),
  y: digits('shortYear', String.raw`\d{2}`, String.raw`\d{2}`),
  m: digits('month', '1[0-2]|0?[1-9]', '1[0-2]|0[1-9]'),
  d: day,
  e: day,
  j: digits('dayOfYear', String.raw`\d{1,3}`, String.raw`\d{3}`),
  H: digits('hour', String.raw`2[0-3]|1\d|[0 ]?\d`, String.raw`2[0-3]|[01]\d`),
  I: digits('hour12', String.raw`1[0-2]|[0 ]?[1-9]`, '1[0-2]|0[1-9]'),
  M: digits('minute', String.raw`[1-5]\d|0?\d`, String.raw`[0-5]\d`),
  // 60 is a leap second.
  S: digits('second', String.raw`60|[1-5]\d|0?\d`, String.raw`60|[0-5]\d`),
  f: digits('fraction', String.raw`\d{1,9}`, String.raw`\d{1,9}`),
  s: digits('epoch', String.raw`-?\d{1,12}`, String.raw`-?\d{1,12}`),
  b: names('monthName', months),
  B: names('monthName', months),
  a: names(undefined, weekdays),
  A: names(undefined, weekdays),
  p: { part: 'half', loose: String.raw`[ap]\.?m\.?` },
  z: { part: 'offset', loose: String.raw`Z|[+-]\d{2}(?::?\d{2})?` },
  Z: { part: 'zone', loose: 'UTC|GMT|Z' },
};

type Parts = Partial<Record<string, string>>;

/** A clock's time as a pattern found it: `2026-11-18T10:00:00.5`, and `Z` or an offset where it has one. */
export interface ReadTime {
  local: string;
  offset: string;
}

/** Times that are written by one pattern of strptime. */
export class TimePattern {
  readonly #written: RegExp;
  /** True where the pattern itself says how far the clock is from UTC. */
  readonly hasOffset: boolean;

  /** Throws `RangeError`, with the problem, for a pattern that says no date or has an unknown directive. */
  constructor(pattern: string) {
    const tokens = tokensOf(pattern);
    const parts = tokens.flatMap((token) => (typeof token === 'string' ? [] : (token.part ?? [])));
    const twice = parts.find((part, index) => parts.indexOf(part) !== index);
    if (twice !== undefined) throw new RangeError(`says the ${words[twice] ?? twice} twice`);
    assertDate(new Set(parts));
    this.hasOffset = parts.some((part) => ['offset', 'zone', 'epoch'].includes(part));
    const written = tokens.map((token, index) => source(token, tokens[index - 1], tokens[index + 1])).join('');
    // A fraction is left out where it is zero, by many writers with the point before it.
    const withFraction = written.replace(/(\\[.,])(\(\?<fraction>[^)]*\))/, '(?:$1$2)?');
    this.#written = new RegExp(`^${withFraction}$`, 'i');
  }

  /** Undefined for a text that is written otherwise; that a day or an offset exists is not looked at. */
  read(text: string): ReadTime | undefined {
    const parts: Parts | undefined = this.#written.exec(text.trim())?.groups;
    if (parts === undefined) return undefined;
    const fraction = parts['fraction'] === undefined ? '' : `.${parts['fraction']}`;
    if (parts['epoch'] !== undefined) return epochTime(Number(parts['epoch']), fraction);
    const date = dateOfParts(parts);
    if (date === undefined) return undefined;
    const local = `${date}T${hourOf(parts)}:${two(parts['minute'])}:${two(parts['second'])}${fraction}`;
    return { local, offset: parts['zone'] === undefined ? offsetOf(parts['offset']) : 'Z' };
  }
}

const words: Record<string, string> = {
  shortYear: 'year',
  dayOfYear: 'day of the year',
  hour12: 'hour',
  monthName: 'month',
  half: 'half of the day',
  epoch: 'seconds since the epoch',
};

function tokensOf(pattern: string): (string | Directive)[] {
  const [, utc] = /(?:^|[^%A-Za-z]|%[A-Za-z])(Z|UTC|GMT)\s*$/.exec(pattern) ?? [];
  // As mere text it would say nothing, and a zone would contradict it.
  if (utc !== undefined)
    throw new RangeError(`ends in ${utc} as mere text: write ${utc === 'Z' ? '%z' : '%Z'}, which reads it`);
  return [...pattern.trim().matchAll(/%(.?)|\s+|[^%\s]/gsu)].map(([text, letter]) => {
    if (letter === undefined) return /\s/.test(text) ? ' ' : text;
    if (letter === '%') return '%';
    const directive = Object.hasOwn(directives, letter) ? directives[letter] : undefined;
    if (directive !== undefined) return directive;
    const known = Object.keys(directives).map((each) => `%${each}`);
    throw new RangeError(`has ${text}, which is none of ${known.join(' ')} %%`);
  });
}

function assertDate(has: ReadonlySet<string>): void {
  if (has.has('epoch')) {
    const other = [...has].find((part) => part !== 'epoch' && part !== 'fraction');
    if (other !== undefined) throw new RangeError(`has %s, which says all, and the ${words[other] ?? other}`);
    return;
  }
  const both = [
    ['year', 'shortYear'],
    ['month', 'monthName'],
    ['hour', 'hour12'],
    ['offset', 'zone'],
  ].find(([one = '', other = '']) => has.has(one) && has.has(other));
  if (both !== undefined) throw new RangeError(`says the ${both[0]} twice`);
  const hasYear = has.has('year') || has.has('shortYear');
  const hasDay = has.has('dayOfYear') || ((has.has('month') || has.has('monthName')) && has.has('day'));
  if (!hasYear || !hasDay) throw new RangeError('names no day: it needs a year, a month and a day, or %s');
  if (has.has('hour12') !== has.has('half')) throw new RangeError('has %I without %p, or %p without %I');
}

function source(
  token: string | Directive,
  before: string | Directive | undefined,
  after: string | Directive | undefined,
): string {
  if (token === ' ') return String.raw`\s+`;
  if (typeof token === 'string') return token.replace(/[$()*+.,?[\\\]^{|}/-]/, String.raw`\$&`);
  const isFixed = token.fixed !== undefined && [before, after].some((other) => hasDigits(other));
  const taken = isFixed ? token.fixed : token.loose;
  return token.part === undefined ? `(?:${taken})` : `(?<${token.part}>${taken})`;
}

function hasDigits(token: string | Directive | undefined): boolean {
  return typeof token === 'object' ? token.fixed !== undefined : /^\d$/.test(token ?? '');
}

/** Returns `YYYY-MM-DD`; undefined for a day of the year that the year does not have. */
function dateOfParts({ year, shortYear, month, monthName, day: dayOfMonth, dayOfYear }: Parts): string | undefined {
  // As POSIX has it: 69 is 1969, 68 is 2068.
  const years = year ?? `${Number(shortYear) >= 69 ? 19 : 20}${shortYear}`;
  if (dayOfYear === undefined) {
    const number = month ?? months.findIndex((name) => name.slice(0, 3).toLowerCase() === short(monthName)) + 1;
    return `${years}-${two(String(number))}-${two(dayOfMonth)}`;
  }
  const date = new Date(0);
  date.setUTCFullYear(Number(years), 0, Number(dayOfYear));
  if (Number(dayOfYear) === 0 || date.getUTCFullYear() !== Number(years)) return undefined;
  return date.toISOString().slice(0, 10);
}

function hourOf({ hour, hour12, half }: Parts): string {
  if (hour12 === undefined) return two(hour);
  const isAfternoon = half?.toLowerCase().startsWith('p') === true;
  return two(String((Number(hour12) % 12) + (isAfternoon ? 12 : 0)));
}

/** Writes an offset as RFC 3339 has it: `+02` and `+0200` become `+02:00`. */
function offsetOf(offset: string | undefined): string {
  if (offset === undefined) return '';
  if (offset.toUpperCase() === 'Z') return 'Z';
  return `${offset.slice(0, 3)}:${offset.slice(3).replace(':', '').padEnd(2, '0')}`;
}

function epochTime(seconds: number, fraction: string): ReadTime {
  return { local: `${new Date(seconds * 1000).toISOString().slice(0, 19)}${fraction}`, offset: 'Z' };
}

function short(name: string | undefined): string | undefined {
  return name?.slice(0, 3).toLowerCase();
}

function two(text: string | undefined): string {
  return (text ?? '0').trim().padStart(2, '0');
}
