import { JsonNumber, type JsonValue } from './json-text.ts';

/**
 * Returns the id that a value of JSON is: a text as it is, a whole number as its digits, however it is written. Null
 * for every other value.
 */
export function jsonId(value: JsonValue | undefined): string | null {
  if (value instanceof JsonNumber) return integerText(value.text);
  return typeof value === 'string' ? value : null;
}

/**
 * Writers that have only floating point write the integer 101 as `101.0` and 100000 as `1e+05`. Beyond 2^53 they have
 * the same number for several integers; one that is written as an integer is none of theirs, whatever its size.
 */
function integerText(number: string): string | null {
  if (/^-?\d+$/.test(number)) return number;
  const [, sign, digits, fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d*))?(?:[eE]\+?(\d{1,2}))?$/.exec(number) ?? [];
  const places = Number(exponent);
  if (digits === undefined || !/^0*$/.test(fraction.slice(places))) return null;
  const integer = Number(`${sign}${digits}${fraction.slice(0, places).padEnd(places, '0')}`);
  return Number.isSafeInteger(integer) ? BigInt(integer).toString() : null;
}
