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
