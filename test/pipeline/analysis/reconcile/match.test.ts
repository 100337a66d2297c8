import { expect, it } from 'vitest';
import { match } from '../../../../src/pipeline/analysis/reconcile/match.ts';

it('a list with 150,000 rewards of one click leaves all of them without a conversion', () => {
  const rewards = Array.from({ length: 150_000 }, (_, index) => ({
    line: index + 2,
    clickId: 'k',
    conversionId: `v${index}`,
    state: 'credited' as const,
  }));
  expect(match(rewards, []).claims).toHaveLength(150_000);
});

it('pairs 150,000 claims and conversions of one click in their order', () => {
  const count = 150_000;
  // Those of the other end of the list are compared last, by any search through all.
  const amountOf = (index: number) => BigInt(index % (count / 2));
  const rewards = Array.from({ length: count }, (_, index) => ({
    line: index + 2,
    clickId: 'k',
    amount: amountOf(count - index - 1),
    state: 'credited' as const,
  }));
  const conversions = Array.from({ length: count }, (_, index) => ({
    conversionId: `c${index}`,
    clickId: 'k',
    offerId: 1,
    status: 'credited' as const,
    amount: amountOf(index),
    time: '2026-11-18T00:00:00.000Z',
    reversedAt: null,
    postback: null,
  }));
  const { pairs } = match(rewards, conversions);
  expect(pairs).toHaveLength(count);
  expect(pairs.every(({ claim, conversion }) => claim.amount === conversion.amount)).toBe(true);
  const ofOne = pairs.filter(({ claim }) => claim.amount === 7n);
  expect(ofOne.map(({ claim, conversion }) => [claim.line, conversion.conversionId])).toEqual([
    [count / 2 - 6, 'c7'],
    [count - 6, `c${count / 2 + 7}`],
  ]);
});
