import { parseMoney } from '../../kit/text/decimal-text.ts';

/**
 * Which of two amounts is the lower one; what is no amount counts as the highest, and is left to landing to refuse.
 */
export function compareAmounts(one: string, other: string): number {
  const [left, right] = [parseMoney(one), parseMoney(other)];
  if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
  return left < right ? -1 : Number(left > right);
}
