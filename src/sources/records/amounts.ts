import { parseMoney } from '../../kit/text/decimal-text.ts';

/** Compares two amounts for sorting. A text that is no amount counts as the highest, and landing rejects it. */
export function compareAmounts(one: string, other: string): number {
  const [left, right] = [parseMoney(one), parseMoney(other)];
  if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
  return left < right ? -1 : Number(left > right);
}
