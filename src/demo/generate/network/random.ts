/** A thorough mix of 32 bits into 32 bits, one to one: two different inputs never give the same result. */
export function scramble(bits: number): number {
  let mixed = bits | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** A seed of its own for each thing that is drawn apart from the others: draws of one cannot shift those of another. */
export function seedFor(seed: number, purpose: number | string): number {
  let mixed = scramble(seed ^ 0x9e3779b9);
  for (const part of typeof purpose === 'number'
    ? [purpose]
    : Array.from(purpose, (character) => character.charCodeAt(0))) {
    mixed = scramble((mixed + part + 0x6d2b79f5) | 0);
  }
  return mixed;
}

/** Reproducible random numbers (mulberry32): the same seed gives the same draws on every machine. Not for secrets. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Starts again, so that a loop over millions needs one object only. */
  restart(seed: number): void {
    this.#state = seed;
  }

  /** From 0 up to, not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  /** A whole number from 0 up to, not including, `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** A whole number from `first` to `last`, both included. */
  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  /** `count` different items in the order of the list, or all of them where there are not so many. */
  sample<T>(items: readonly T[], count: number): T[] {
    const taken = new Set<number>();
    while (taken.size < Math.min(count, items.length)) taken.add(this.below(items.length));
    return items.filter((_, index) => taken.has(index));
  }

  /** The same items in another order. */
  shuffle<T>(items: readonly T[]): T[] {
    const shuffled = [...items];
    for (let last = shuffled.length - 1; last > 0; last--) {
      const other = this.below(last + 1);
      [shuffled[last], shuffled[other]] = [shuffled[other] as T, shuffled[last] as T];
    }
    return shuffled;
  }
}
