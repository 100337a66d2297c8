/** Formats of dates that have no pattern in the file. */
const dateFormats = [
  [14, 22],
  [27, 36],
  [45, 47],
  [50, 58],
] as const;

/** Characters of a pattern that Excel takes. */
const maxCodeCharacters = 255;

/** Returns whether a number format shows moments. `code`: its pattern, where the file has one. */
export function isDateFormat(id: number, code: string | undefined): boolean {
  if (code === undefined) return dateFormats.some(([first, last]) => id >= first && id <= last);
  if (code.length > maxCodeCharacters) return false;
  // Without texts in quotes, colours and conditions in brackets, and characters that stand for themselves.
  const shown = code.replaceAll(/"[^"]*"|\\.|[_*].|\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '');
  return !/general/i.test(shown) && /[dmyhs]/i.test(shown.split(';')[0] ?? '');
}

const dayMilliseconds = 86_400_000;
/** Day 0; up to day 59 one later, since Excel knows a 29 February 1900. */
const firstDay = Date.UTC(1899, 11, 30);
const firstDay1904 = Date.UTC(1904, 0, 1);
/** The day after 9999-12-31. */
const maxSerial = 2_958_466;

/** Returns a moment that a cell holds as the number of its day, without a zone; undefined where it is none. */
export function dateText(number: string, since1904: boolean): string | undefined {
  const serial = Number(number);
  if (!(serial >= 0 && serial < maxSerial)) return undefined;
  const first = since1904 ? firstDay1904 : firstDay + (serial < 60 ? dayMilliseconds : 0);
  const moment = new Date(first + Math.round(serial * dayMilliseconds)).toISOString();
  return moment.endsWith('.000Z') ? moment.slice(0, -5) : moment.slice(0, -1);
}

/** Significant digits that Excel keeps of a number. */
const excelDigits = 15;
/** No number is written with as many characters. */
const maxNumberCharacters = 100;

/**
 * Returns the text of a number. Excel writes 1.1 as 1.1000000000000001, with all digits of its binary form, so a text
 * of more digits than Excel keeps is the shorter one of the same binary form, where there is one. Every other text
 * stays as it is.
 */
export function numberText(written: string): string {
  if (written.length > maxNumberCharacters || significantDigits(written) <= excelDigits) return written;
  const shortest = String(Number(written));
  return significantDigits(shortest) <= excelDigits && !shortest.includes('e') ? shortest : written;
}

function significantDigits(number: string): number {
  const digits = number
    .replace(/e.*$/i, '')
    .replaceAll(/[^0-9]/g, '')
    .replace(/^0+/, '');
  return digits.length;
}

/** Returns the number of a column, from 0, by a cell's name such as `AB12`; undefined where it has none. */
export function columnOf(name: string | undefined): number | undefined {
  const letters = /^([A-Z]{1,3})\d*$/.exec(name ?? '')?.[1];
  if (letters === undefined) return undefined;
  return Array.from(letters).reduce((column, letter) => 26 * column + letter.charCodeAt(0) - 64, 0) - 1;
}
