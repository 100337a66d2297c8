import { NumberReader, plainDecimal, plainNumber } from '../../kit/intake/mapping/numbers.ts';
import { parseMoney } from '../../kit/text/decimal-text.ts';

/** Compares two amounts for sorting. A text that is no amount counts as the highest, and landing rejects it. */
export function compareAmounts(one: string, other: string): number {
  const [left, right] = [parseMoney(one), parseMoney(other)];
  if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
  return left < right ? -1 : Number(left > right);
}

const shares = new NumberReader({ ...plainNumber, round: true });

/**
 * Rounds an amount to six places: networks compute shares in binary floating point, and write 1.2340000000000002. A
 * text that is no number stays as it is.
 */
export function roundedAmount(text: string | undefined): string | undefined {
  return text === undefined ? undefined : (shares.read(text) ?? text);
}

/** True for nothing, however it is written. */
export function isZero(amount: string | undefined): boolean {
  return amount !== undefined && plainDecimal(amount)?.units === 0n;
}
