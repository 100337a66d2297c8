import { decimalText, roundedUnits, tenTo, type Decimal } from '../../text/decimal-text.ts';
import { JsonNumber } from '../../text/json-text.ts';

/** How an export writes its numbers. */
export interface NumberFormat {
  decimal: '.' | ',';
  /** Separator of thousands; a blank means blanks of every width. */
  group?: string | undefined;
  /** Texts before or behind the digits, such as `$` and `USD`. */
  strip: readonly string[];
  /** Power of ten by which the number is divided: 2 for cents. */
  scale: number;
  /** True where digits past the sixth place are rounded. */
  round: boolean;
  sign: 'keep' | 'drop';
}

/** As programs write numbers. */
export const plainNumber: NumberFormat = { decimal: '.', strip: [], scale: 0, round: false, sign: 'keep' };

const roundedPlaces = 6;
/** No amount has as many characters; digits by the million would keep a run busy. */
const maxLength = 200;
/** Powers of ten that a number may be shifted by; more would only make text of noughts. */
const maxExponent = 40;

/** Reads numbers that are written in one format, without binary floating point. */
export class NumberReader {
  readonly #format: NumberFormat;
  readonly #written: RegExp;
  readonly #strip: readonly string[];

  constructor(format: NumberFormat) {
    this.#format = format;
    this.#strip = format.strip.map((text) => text.trim().toLowerCase());
    this.#written = new RegExp(`^(${wholePart(format.group)})(?:${escaped(format.decimal)}(\\d*))?${exponent}$`, 'iu');
  }

  /**
   * Returns the exact number as the shortest plain text; undefined where the value is written otherwise. A JSON number
   * has a point and no groups, whatever the format of texts.
   */
  read(value: string | JsonNumber): string | undefined {
    const number = value instanceof JsonNumber ? decimalIn(value.text, jsonNumber) : this.#decimalIn(value);
    if (number === undefined) return undefined;
    const { scale, round, sign } = this.#format;
    const scaled = shifted(number, -scale);
    const { units, places } = sign === 'drop' && scaled.units < 0n ? { ...scaled, units: -scaled.units } : scaled;
    if (!round) return decimalText({ units, places });
    const rounded = roundedUnits({ units: units < 0n ? -units : units, places }, roundedPlaces);
    return decimalText({ units: units < 0n ? -rounded : rounded, places: roundedPlaces });
  }

  #decimalIn(text: string): Decimal | undefined {
    const bare = this.#bare(text);
    if (bare === undefined) return undefined;
    const number = decimalIn(bare.digits, this.#written);
    return number && bare.isNegative ? { ...number, units: -number.units } : number;
  }

  /** Takes off the sign and the texts before and behind the digits, in any order: `-$5`, `$ -5`, `5 USD`. */
  #bare(text: string): { digits: string; isNegative: boolean } | undefined {
    let rest = text.trim();
    if (rest.length > maxLength) return undefined;
    let sign: string | undefined;
    for (;;) {
      const lower = rest.toLowerCase();
      const before = this.#strip.find((each) => lower.startsWith(each));
      const behind = this.#strip.find((each) => lower.endsWith(each));
      if (/^[-+\u2212]/.test(rest)) {
        if (sign !== undefined) return undefined;
        sign = rest.slice(0, 1);
        rest = rest.slice(1).trimStart();
      } else if (before !== undefined) rest = rest.slice(before.length).trimStart();
      else if (behind !== undefined) rest = rest.slice(0, rest.length - behind.length).trimEnd();
      else return { digits: rest, isNegative: sign !== undefined && sign !== '+' };
    }
  }
}

/** Reads plain decimal text, also with an exponent, as an exact number. Undefined for anything else. */
export function plainDecimal(text: string): Decimal | undefined {
  return decimalIn(text.trim(), jsonNumber);
}

/** Compares two plain decimals. */
export function compareDecimals(one: string, other: string): number {
  const [left, right] = [plainDecimal(one), plainDecimal(other)];
  if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
  const difference = left.units * tenTo(right.places) - right.units * tenTo(left.places);
  return difference < 0n ? -1 : Number(difference > 0n);
}

const exponent = '(?:e([+-]?\\d{1,3}))?';
const jsonNumber = new RegExp(`^([+-]?\\d*)(?:\\.(\\d*))?${exponent}$`, 'i');

/**
 * Thousands stand in groups of three, those before them in groups of two or three (India). Anything else is a point
 * that was taken for a separator: `1,5` is no fifteen, and `0.125` no hundred and twenty-five.
 */
function wholePart(group: string | undefined): string {
  if (group === undefined) return String.raw`\d*`;
  const separator = group.trim() === '' ? String.raw`\s` : escaped(group);
  return String.raw`\d*|[1-9]\d{0,2}(?:${separator}\d{2,3})*${separator}\d{3}`;
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}/]/g, String.raw`\$&`);
}

/** Returns the number of a text by a pattern with its whole part, its fraction and its exponent. */
function decimalIn(text: string, pattern: RegExp): Decimal | undefined {
  if (text.length > maxLength) return undefined;
  const [, written, fraction = '', power = '0'] = pattern.exec(text) ?? [];
  if (written === undefined) return undefined;
  const whole = written.replaceAll(/[^\d-]/g, '');
  if (whole.replace('-', '') + fraction === '' || Math.abs(Number(power)) > maxExponent) return undefined;
  return shifted({ units: BigInt(whole + fraction), places: fraction.length }, Number(power));
}

/** Multiplies by a power of ten. */
function shifted({ units, places }: Decimal, power: number): Decimal {
  return power > places ? { units: units * tenTo(power - places), places: 0 } : { units, places: places - power };
}
