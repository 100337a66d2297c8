/** A set of positions among a snapshot's active offers: one bit each, so that filters meet 32 offers at a time. */
export class OfferSet {
  readonly #words: Uint32Array;

  /** Empty, with room for so many offers. */
  constructor(offers: number) {
    this.#words = new Uint32Array(Math.ceil(offers / 32));
  }

  /** Becomes the same set as another of a catalog of as many offers. */
  become(other: OfferSet): void {
    this.#words.set(other.#words);
  }

  add(position: number): void {
    this.#words[position >>> 5] = (this.#words[position >>> 5] ?? 0) | (1 << (position & 31));
  }

  has(position: number): boolean {
    return ((this.#words[position >>> 5] ?? 0) & (1 << (position & 31))) !== 0;
  }

  /** Keeps what is in one of the others too. */
  keep(one: OfferSet, other = one): void {
    const words = this.#words;
    for (let place = 0; place < words.length; place++) {
      words[place] = (words[place] ?? 0) & ((one.#words[place] ?? 0) | (other.#words[place] ?? 0));
    }
  }

  /** Keeps those whose value is not below the least. */
  keepFrom(values: Float64Array, least: number): void {
    this.keepWhere((position) => (values[position] ?? 0) >= least);
  }

  /** Keeps what passes. */
  keepWhere(passes: (position: number) => boolean): void {
    const words = this.#words;
    for (let place = 0; place < words.length; place++) {
      const word = words[place] ?? 0;
      let kept = word;
      for (let left = word; left !== 0; left &= left - 1) {
        const bit = 31 - Math.clz32(left & -left);
        if (!passes(place * 32 + bit)) kept &= ~(1 << bit);
      }
      words[place] = kept;
    }
  }

  get size(): number {
    const words = this.#words;
    let size = 0;
    for (let place = 0; place < words.length; place++) size += bitsIn(words[place] ?? 0);
    return size;
  }

  /** Positions in ascending order, from the one after the first `offset` on, at most `limit`. */
  slice(offset: number, limit: number): number[] {
    const words = this.#words;
    const positions: number[] = [];
    let skipped = 0;
    for (let place = 0; place < words.length; place++) {
      const word = words[place] ?? 0;
      const bits = bitsIn(word);
      if (skipped + bits <= offset) {
        skipped += bits;
        continue;
      }
      for (let left = word; left !== 0; left &= left - 1) {
        if (skipped++ < offset) continue;
        positions.push(place * 32 + 31 - Math.clz32(left & -left));
        if (positions.length === limit) return positions;
      }
    }
    return positions;
  }
}

/** Counts in pairs of bits, then in fours, eights and all. */
function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
