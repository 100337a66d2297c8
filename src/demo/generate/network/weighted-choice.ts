import type { Random } from './random.ts';

/** Draws items in proportion to their weights, in constant time whatever their number (Vose's alias method). */
export class WeightedChoice<T> {
  readonly #items: readonly T[];
  readonly #keep: Float64Array;
  readonly #alias: Uint32Array;

  /** Weights are ≥ 0 with at least one above; an item of weight 0 is never drawn. */
  constructor(items: readonly T[], weightOf: (item: T) => number) {
    const weights = items.map(weightOf);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    if (!(total > 0)) throw new RangeError('nothing to choose from: no item has a weight above 0');
    this.#items = items;
    this.#keep = new Float64Array(items.length).fill(1);
    this.#alias = new Uint32Array(items.length);
    const scaled = weights.map((weight) => (weight * items.length) / total);
    const small = scaled.flatMap((share, index) => (share < 1 ? [index] : []));
    const large = scaled.flatMap((share, index) => (share < 1 ? [] : [index]));
    while (small.length > 0 && large.length > 0) {
      const poor = small.pop() as number;
      const rich = large[large.length - 1] as number;
      this.#keep[poor] = scaled[poor] as number;
      this.#alias[poor] = rich;
      const left = (scaled[rich] as number) - (1 - (scaled[poor] as number));
      scaled[rich] = left;
      if (left < 1) small.push(large.pop() as number);
    }
  }

  pick(random: Random): T {
    const index = random.below(this.#items.length);
    return this.#items[random.next() < (this.#keep[index] as number) ? index : (this.#alias[index] as number)] as T;
  }
}

/** Popularity by rank from 0: a few are far ahead, with a long tail behind them. */
export function zipfWeight(rank: number): number {
  return 1 / (rank + 3) ** 0.9;
}
