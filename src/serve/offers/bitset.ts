/** A set of indexes among a snapshot's active offers: one bit each, so that filters meet 32 offers at a time. */
export class Bitset {
  readonly #words: Uint32Array;

  /** Empty, with room for so many offers. */
  constructor(offers: number) {
    this.#words = new Uint32Array(Math.ceil(offers / 32));
  }

  /** The same set, to be changed by itself. */
  copy(): Bitset {
    const copy = new Bitset(this.#words.length * 32);
    copy.#words.set(this.#words);
    return copy;
  }

  add(index: number): void {
    this.#words[index >>> 5] = (this.#words[index >>> 5] ?? 0) | (1 << (index & 31));
  }

  has(index: number): boolean {
    return ((this.#words[index >>> 5] ?? 0) & (1 << (index & 31))) !== 0;
  }

  /** Keeps what is in one of the others too. */
  intersect(one: Bitset, other = one): void {
    const words = this.#words;
    for (let word = 0; word < words.length; word++) {
      words[word] = (words[word] ?? 0) & ((one.#words[word] ?? 0) | (other.#words[word] ?? 0));
    }
  }

  /** Adds what is in the other. */
  unite(other: Bitset): void {
    const words = this.#words;
    for (let word = 0; word < words.length; word++) words[word] = (words[word] ?? 0) | (other.#words[word] ?? 0);
  }

  /** Takes out what is in the other. */
  subtract(other: Bitset): void {
    const words = this.#words;
    for (let word = 0; word < words.length; word++) words[word] = (words[word] ?? 0) & ~(other.#words[word] ?? 0);
  }

  /** Keeps those whose value is not below the least. */
  filterAtLeast(values: Float64Array, least: number): void {
    this.filter((index) => (values[index] ?? 0) >= least);
  }

  /** Keeps what passes. */
  filter(passes: (index: number) => boolean): void {
    const words = this.#words;
    for (let word = 0; word < words.length; word++) {
      let kept = words[word] ?? 0;
      for (let left = kept; left !== 0; left &= left - 1) {
        const bit = 31 - Math.clz32(left & -left);
        if (!passes(word * 32 + bit)) kept &= ~(1 << bit);
      }
      words[word] = kept;
    }
  }

  get size(): number {
    let size = 0;
    for (const word of this.#words) size += bitsIn(word);
    return size;
  }

  /** Indexes in ascending order, from the one after the first `offset` on, at most `limit`. */
  slice(offset = 0, limit = Infinity): number[] {
    const words = this.#words;
    const indexes: number[] = [];
    let skipped = 0;
    for (let word = 0; word < words.length; word++) {
      const bits = words[word] ?? 0;
      const count = bitsIn(bits);
      if (skipped + count <= offset) {
        skipped += count;
        continue;
      }
      for (let left = bits; left !== 0; left &= left - 1) {
        if (skipped++ < offset) continue;
        indexes.push(word * 32 + 31 - Math.clz32(left & -left));
        if (indexes.length === limit) return indexes;
      }
    }
    return indexes;
  }
}

/** Counts in pairs of bits, then in fours, eights and all. */
function bitsIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
