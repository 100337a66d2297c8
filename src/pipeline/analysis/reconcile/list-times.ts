import { timeForms } from '../../../kit/intake/known-values.ts';
import { timeReader } from '../../../kit/intake/mapping/times.ts';
import { looseMoment, type Moment } from '../../../kit/time/moment.ts';
import { readTimestamp } from '../../../kit/time/timestamp-text.ts';

export type ListTime = { time: Moment } | { mistake: string };

/** A list may name any moment. */
const end = new Date('9999-12-31T00:00:00Z');

/**
 * Reads times of one column: as ours, without an offset as UTC, and in the forms of spreadsheets, of which the one
 * counts that fits most of the column. Where two of them read a time as different days it is not read.
 */
export class TimeColumn {
  readonly #name: string;
  readonly #forms: { pattern: string; read: (text: string) => Moment | undefined }[];

  constructor(name: string, texts: readonly string[]) {
    this.#name = name;
    const foreign = texts.filter((text) => ourTime(text) === undefined);
    const forms = timeForms.map(({ pattern }) => {
      const read = timeReader(pattern, /%z|%Z|%s/.test(pattern) ? undefined : 'UTC');
      return { pattern, read, fits: foreign.filter((text) => read(text) !== undefined).length };
    });
    const most = Math.max(0, ...forms.map(({ fits }) => fits));
    this.#forms = most === 0 ? [] : forms.filter(({ fits }) => fits === most);
  }

  read(text: string): ListTime {
    const own = plainTime(text);
    if ('time' in own) return own;
    const found = this.#forms.flatMap(({ pattern, read }) => {
      const time = read(text);
      return time === undefined ? [] : [{ pattern, time }];
    });
    const [first, ...others] = found;
    if (first === undefined) return own;
    const other = others.find(({ time }) => time !== first.time);
    if (other === undefined) return { time: first.time };
    const [one, two] = [first, other].map(({ pattern }) =>
      JSON.stringify({ fields: { time: { at: this.#name, time: pattern } } }),
    );
    return {
      mistake: `"${text}" may name two days, and the other times do not decide it; say which by --mapping: ${one} or ${two}`,
    };
  }
}

/** Reads a time that is written as ours are, also by a mapping. */
export function plainTime(text: string): ListTime {
  const time = ourTime(text);
  return time === undefined
    ? { mistake: `"${text}" is no time; write it like 2026-11-18T10:00:00Z or 2026-11-18` }
    : { time };
}

function ourTime(text: string): Moment | undefined {
  const loose = looseMoment(text);
  if (loose !== undefined) return loose;
  const read = readTimestamp(text, end, 'UTC');
  return 'moment' in read ? read.moment : undefined;
}
