import { describe, expect, it } from 'vitest';
import { Random, scramble } from '../../../src/demo/generate/network/random.ts';
import { Spread } from '../../../src/demo/generate/network/spread.ts';
import { WeightedChoice } from '../../../src/demo/generate/network/weighted-choice.ts';

describe('random draws', () => {
  it('repeat with the seed and lie evenly between 0 and 1', () => {
    const draws = (seed: number) => {
      const random = new Random(seed);
      return Array.from({ length: 10_000 }, () => random.next());
    };
    expect(draws(42)).toEqual(draws(42));
    expect(draws(43)).not.toEqual(draws(42));
    const tenths = Map.groupBy(draws(42), (draw) => Math.floor(draw * 10));
    expect(new Set(tenths.keys())).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
    for (const { length } of tenths.values()) expect(Math.abs(length - 1000)).toBeLessThan(120);
  });

  it('take samples without repetition and keep all items when shuffling', () => {
    const random = new Random(7);
    const items = ['a', 'b', 'c', 'd', 'e'];
    const sample = random.sample(items, 3);
    expect(new Set(sample).size).toBe(3);
    expect(random.sample(items, 9)).toEqual(items);
    expect(random.shuffle(items).toSorted()).toEqual(items);
  });

  it('scramble without collisions', () => {
    expect(new Set(Array.from({ length: 100_000 }, (_, index) => scramble(index))).size).toBe(100_000);
  });
});

describe('a weighted choice', () => {
  it('draws in proportion to the weights, and nothing of weight 0', () => {
    const choice = new WeightedChoice(
      ['rare', 'never', 'often', 'usual'],
      (item) => ({ rare: 1, never: 0, often: 6, usual: 3 })[item] ?? 0,
    );
    const random = new Random(1);
    const drawn = Map.groupBy(
      Array.from({ length: 20_000 }, () => choice.pick(random)),
      (item) => item,
    );
    expect(drawn.has('never')).toBe(false);
    for (const [item, share] of [
      ['rare', 0.1],
      ['usual', 0.3],
      ['often', 0.6],
    ] as const) {
      expect(Math.abs((drawn.get(item)?.length ?? 0) / 20_000 - share)).toBeLessThan(0.02);
    }
  });

  it('needs something to choose from', () => {
    expect(() => new WeightedChoice(['a', 'b'], () => 0)).toThrow('nothing to choose from');
  });
});

describe('a spread', () => {
  it.each([
    [1, 10],
    [3, 10],
    [25, 10],
    [7, 7],
    [0, 5],
  ])('of %i over %i adds up', (wanted, total) => {
    const spread = new Spread(wanted, total);
    const parts = Array.from({ length: total }, (_, index) => spread.at(index));
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(wanted);
    expect(Math.max(...parts) - Math.min(...parts)).toBeLessThanOrEqual(1);
  });
});
