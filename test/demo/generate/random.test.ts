import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Random, scramble } from '../../../src/demo/generate/network/random.ts';
import { WeightedChoice } from '../../../src/demo/generate/network/weighted-choice.ts';

const draws = 20_000;

it('draws repeat with the seed, and no tenth of the range has more of them than another', () => {
  const drawn = (seed: number) => {
    const random = new Random(seed);
    return Array.from({ length: draws }, () => random.next());
  };
  expect(drawn(42)).toEqual(drawn(42));
  expect(drawn(43)).not.toEqual(drawn(42));
  const tenths = Object.values(Object.groupBy(drawn(42), (draw) => Math.floor(draw * 10)));
  expect(tenths).toHaveLength(10);
  for (const tenth of tenths) expect((tenth?.length ?? 0) / draws).toBeCloseTo(0.1, 1.5);
});

it('a sample has no item twice and keeps the order, a shuffle keeps all items', () => {
  fc.assert(
    fc.property(fc.nat(), fc.uniqueArray(fc.nat(), { minLength: 1 }), fc.nat(20), (seed, items, count) => {
      const random = new Random(seed);
      const sample = random.sample(items, count);
      expect(sample).toEqual(items.filter((item) => sample.includes(item)));
      expect(sample).toHaveLength(Math.min(count, items.length));
      expect(new Set(random.shuffle(items))).toEqual(new Set(items));
    }),
  );
});

it('no two numbers are scrambled into one: ids of clicks are made of them', () => {
  expect(new Set(Array.from({ length: 100_000 }, (_, index) => scramble(index))).size).toBe(100_000);
});

it('a weighted choice draws each item as often as its weight says, and nothing of weight 0', () => {
  const weights: Record<string, number> = { rare: 0.1, never: 0, often: 0.6, usual: 0.3 };
  const choice = new WeightedChoice(Object.keys(weights), (item) => weights[item] ?? 0);
  const random = new Random(1);
  const drawn = Object.groupBy(
    Array.from({ length: draws }, () => choice.pick(random)),
    (item) => item,
  );
  for (const [item, weight] of Object.entries(weights))
    expect((drawn[item]?.length ?? 0) / draws, item).toBeCloseTo(weight, weight === 0 ? 10 : 1.5);
});
