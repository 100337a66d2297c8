import { keyOfText } from '../../kit/vocabulary/event-key.ts';

/** Enough that of two hundred files one is asked in vain. */
const bitsPerKey = 12;

/** A key's bits lie in one block of 32 bytes, which the processor fetches at once. */
const wordsPerBlock = 8;
const bitsPerBlock = wordsPerBlock * 32;

/** One odd multiplier per word of a block: each picks a bit of its own from the same half of the key. */
const multipliers = [
  0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
] as const;

/** The highest and the lowest 32 bits of a key of 60, each a number. */
export interface HashedKey {
  high: number;
  low: number;
}

export function hashedKey(clickId: string): HashedKey {
  const key = keyOfText(clickId);
  return { high: Number(key >> 28n), low: Number(key & 0xffff_ffffn) };
}

/**
 * Tells which keys a set certainly lacks, in twelve bits a key: the split block Bloom filter of the Parquet format. It
 * never denies a key that was added.
 */
export class BloomFilter {
  readonly #words: Uint32Array;
  readonly #blocks: number;

  constructor(keys: number) {
    this.#blocks = blocksFor(keys);
    this.#words = new Uint32Array(this.#blocks * wordsPerBlock);
  }

  /** What a filter of so many keys takes. */
  static bytesFor(keys: number): number {
    return (blocksFor(keys) * bitsPerBlock) / 8;
  }

  get bytes(): number {
    return this.#words.byteLength;
  }

  add(high: number, low: number): void {
    const start = this.#startOf(high);
    for (let word = 0; word < wordsPerBlock; word++) (this.#words[start + word] as number) |= bitOf(low, word);
  }

  mayHave({ high, low }: HashedKey): boolean {
    const start = this.#startOf(high);
    for (let word = 0; word < wordsPerBlock; word++)
      if (((this.#words[start + word] as number) & bitOf(low, word)) === 0) return false;
    return true;
  }

  #startOf(high: number): number {
    return Math.floor((high * this.#blocks) / 2 ** 32) * wordsPerBlock;
  }
}

function blocksFor(keys: number): number {
  return Math.max(1, Math.ceil((keys * bitsPerKey) / bitsPerBlock));
}

function bitOf(low: number, word: number): number {
  return 1 << (Math.imul(low, multipliers[word] as number) >>> 27);
}
