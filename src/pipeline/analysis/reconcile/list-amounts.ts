import { NumberReader, plainDecimal, plainNumber } from '../../../kit/intake/mapping/numbers.ts';
import { decimalText, parseAmount, type Amount } from '../../../kit/text/decimal-text.ts';

/** An amount of a list, or why it is none. */
export type ReadAmount = { amount: Amount } | { mistake: string };

type Mark = '.' | ',';

/** Readings of a text by either decimal mark; where they agree nothing has to be decided. */
interface WrittenAmount {
  unit: string;
  byMark: Partial<Record<Mark, Amount>>;
}

const marks: readonly Mark[] = ['.', ','];
const howToWrite = 'is no amount; write it like 1250 or 12.50';

/**
 * Reads amounts of one column as people write them: either decimal mark, thousands apart, a currency or a word such as
 * points before or behind, a sign on either side, parentheses for what is below zero. Whether `1,234` has a fraction
 * the other amounts of the column decide, and where they do not, it is not read; `1.234` is read as we write amounts.
 */
export class AmountColumn {
  readonly #name: string;
  readonly #written = new Map<string, WrittenAmount | undefined>();
  /** Decimal marks without which some amount of the column could not be read. */
  readonly #marks: ReadonlySet<Mark>;
  readonly #unit: string;
  /** Texts that were read with a decimal point, and might have thousands instead. */
  readonly #assumed = new Set<string>();

  constructor(name: string, texts: readonly string[]) {
    this.#name = name;
    const units = new Map<string, number>();
    const needed = new Set<Mark>();
    for (const text of texts) {
      const written = writtenAmount(text);
      this.#written.set(text, written);
      if (written === undefined) continue;
      if (written.unit !== '') units.set(written.unit, (units.get(written.unit) ?? 0) + 1);
      const [only, other] = marks.filter((mark) => written.byMark[mark] !== undefined);
      if (only !== undefined && other === undefined) needed.add(only);
    }
    this.#marks = needed;
    this.#unit = [...units].toSorted(([, one], [, other]) => other - one)[0]?.[0] ?? '';
  }

  read(text: string): ReadAmount {
    const written = this.#written.get(text);
    if (written === undefined) return { mistake: `"${text}" ${howToWrite}` };
    const { unit, byMark } = written;
    if (unit !== '' && unit !== this.#unit)
      return {
        mistake: `"${text}" is in ${unit}, and most amounts of "${this.#name}" are in ${this.#unit}: compare one at a time, by "rows" of --mapping`,
      };
    const [point, comma] = marks.map((mark) => byMark[mark]);
    if (point !== undefined && comma !== undefined && point !== comma) {
      const [mark] = this.#marks;
      if (this.#marks.size === 1) return { amount: byMark[mark as Mark] as Amount };
      if (this.#marks.size === 0 && isOurForm.test(text)) {
        this.#assumed.add(text);
        return { amount: point };
      }
      return { mistake: this.#couldBeBoth(text) };
    }
    return { amount: (point ?? comma) as Amount };
  }

  /** Notes on amounts that were read though they could be others. */
  get notes(): string[] {
    const [first] = this.#assumed;
    if (first === undefined) return [];
    return [
      `"${first}" and the like are read with a decimal point; where it separates thousands, say so by --mapping: ${this.#mapping({ decimal: ',', group: '.' })}`,
    ];
  }

  #couldBeBoth(text: string): string {
    const [decimal, group] = [this.#mapping({ decimal: ',' }), this.#mapping({ group: ',' })];
    return `"${text}" may have a fraction or thousands, and the other amounts do not decide it; say it by --mapping: ${decimal} or ${group}`;
  }

  #mapping(number: object): string {
    return JSON.stringify({ fields: { reward: { at: this.#name, number } } });
  }
}

/** Reads an amount that is written as ours are, a number of JSON or one that a mapping made included. */
export function plainAmount(text: string): ReadAmount {
  const decimal = plainDecimal(text);
  const amount = decimal && parseAmount(decimalText(decimal));
  return amount === undefined ? { mistake: `"${text}" ${howToWrite}` } : { amount };
}

const isOurForm = /^\s*[-+]?\d+\.\d+\s*$/;
/** A sign, a unit, digits with marks, a unit, and a sign as accountants put it. */
const written =
  /^([-+\u2212]?)\s*([\p{L}\p{Sc}.]*)\s*([-+\u2212]?)\s*(\d(?:[\d.,'’\s]*\d)?|[.,]\d+)\s*([\p{L}\p{Sc}.]*)\s*([-\u2212]?)$/u;

function writtenAmount(text: string): WrittenAmount | undefined {
  // Between its parts the pattern would divide a run of blanks in every way.
  const trimmed = text.trim().replaceAll(/\s+/g, ' ');
  const inside = /^\((.*)\)$/s.exec(trimmed)?.[1]?.trim();
  const [, ...parts] = written.exec(inside ?? trimmed) ?? [];
  const [before = '', unitBefore = '', between = '', digits, unitBehind = '', behind = ''] = parts;
  if (digits === undefined) return undefined;
  const signs = [before, between, behind, inside === undefined ? '' : '-'].filter((sign) => sign !== '');
  const unit = unitOf([unitBefore, unitBehind].filter((each) => each !== ''));
  if (signs.length > 1 || unit === undefined) return undefined;
  const isNegative = signs.length === 1 && signs[0] !== '+';
  const byMark: WrittenAmount['byMark'] = {};
  for (const mark of marks) {
    const amount = readDigits(digits, mark);
    if (amount !== undefined) byMark[mark] = isNegative ? -amount : amount;
  }
  return Object.keys(byMark).length === 0 ? undefined : { unit, byMark };
}

const readers = new Map<string, NumberReader>();

/** Reads digits with a decimal mark and at most one separator of thousands. */
function readDigits(digits: string, decimal: Mark): Amount | undefined {
  const others = new Set(digits.replaceAll(/\s/g, ' ').replaceAll(/\d/g, '').replaceAll(decimal, ''));
  // No group of thousands begins with a nought: 0,500 is a half.
  if (others.size > 1 || (others.size === 1 && digits.startsWith('0'))) return undefined;
  const [group] = others;
  const key = `${decimal}${group ?? ''}`;
  const reader = readers.get(key) ?? new NumberReader({ ...plainNumber, decimal, group });
  readers.set(key, reader);
  const plain = reader.read(digits);
  return plain === undefined ? undefined : parseAmount(plain);
}

const currencies = new Set(Intl.supportedValuesOf('currency'));
const currencyOfSign: Readonly<Record<string, string>> = {
  $: 'USD',
  US$: 'USD',
  '€': 'EUR',
  '£': 'GBP',
  '₽': 'RUB',
  '₹': 'INR',
};
/** Units of rewards and of currencies that are neither a sign nor a code. */
const words: Readonly<Record<string, string>> = {
  pt: 'points',
  ...Object.fromEntries(
    ['point', 'coin', 'credit', 'token', 'gem', 'diamond', 'star', 'buck'].flatMap((word) => [
      [word, `${word}s`],
      [`${word}s`, `${word}s`],
    ]),
  ),
  pts: 'points',
  punkte: 'points',
  euro: 'EUR',
  euros: 'EUR',
  dollar: 'USD',
  dollars: 'USD',
  fr: 'CHF',
  sfr: 'CHF',
  kr: 'kr',
  zł: 'PLN',
  kč: 'CZK',
  ft: 'HUF',
  lei: 'RON',
  руб: 'RUB',
};

/** Returns the one unit that a text names; '' for none, undefined for what is no unit, such as `k` for thousands. */
function unitOf(texts: readonly string[]): string | undefined {
  const units = new Set(texts.map(knownUnit));
  // `$5 USD` names one twice.
  return units.has(undefined) || units.size > 1 ? undefined : ([...units][0] ?? '');
}

function knownUnit(text: string): string | undefined {
  const bare = text.replace(/\.$/, '');
  const sign = currencyOfSign[bare.toUpperCase()];
  if (sign !== undefined) return sign;
  if (/^[A-Za-z]{0,3}\p{Sc}$/u.test(bare)) return bare.toUpperCase();
  const word = bare.toLowerCase();
  if (Object.hasOwn(words, word)) return words[word];
  const code = bare.toUpperCase();
  return currencies.has(code) ? code : undefined;
}
