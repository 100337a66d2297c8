import { decimalOf, decimalText } from '../../kit/text/decimal-text.ts';

/** A number of a body that keeps all its digits: binary floating point may not hold a sum. */
export class ExactNumber {
  readonly text: string;

  /** `decimal`: plain decimal text, such as 1.5000. */
  constructor(decimal: string) {
    this.text = decimalText(decimalOf(decimal));
  }
}

/** Writes a body of objects, lists, texts, numbers, booleans and exact numbers, without members that are undefined. */
export function exactJson(value: unknown): string {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${exactJson(member)}`).join(',')}}`;
}

export function exactOrNull(decimal: string | null): ExactNumber | null {
  return decimal === null ? null : new ExactNumber(decimal);
}
