import { randomInt } from 'node:crypto';

/** A text that was kept, and when. Milliseconds since the epoch. */
export interface RecentText {
  at: number;
  text: string;
}

/** So many, and so many bytes, are kept in a generation. Beyond that the older one is forgotten early. */
const mostKept = 200_000;
const mostBytes = 64 * 1024 * 1024;
/** A power of two, so that a hash leads to a slot by its lower bits. */
const slots = 2 ** 19;

/**
 * Texts of the last while, each by its key, in two generations: one that has not been added to for so long goes as a
 * whole, so that nothing has to be looked for. They are kept as bytes, in tables of numbers. As objects, a hundred
 * thousand of them would be most of what garbage collection goes through, and clicks would wait for it.
 */
export class RecentTexts {
  readonly #within: number;
  #young = new Generation();
  #old = new Generation();
  #turnedAt = Number.NEGATIVE_INFINITY;

  /** `within`: for how long a text is found. Milliseconds. */
  constructor(within: number) {
    this.#within = within;
  }

  find(key: string, now: number): RecentText | undefined {
    const hash = hashOf(key);
    const found = this.#young.find(key, hash) ?? this.#old.find(key, hash);
    // One that lies ahead is of before the clock was set back.
    return found === undefined || now < found.at || now - found.at >= this.#within ? undefined : found;
  }

  /** In the place of what the key had. */
  add(key: string, { at, text }: RecentText): void {
    if (at < this.#turnedAt || at - this.#turnedAt >= this.#within || !this.#young.hasRoom(key, text)) {
      [this.#young, this.#old] = [this.#old, this.#young];
      this.#young.clear();
      this.#turnedAt = at;
    }
    this.#young.add(key, hashOf(key), at, text);
  }

  forget(key: string): void {
    const hash = hashOf(key);
    this.#young.forget(key, hash);
    this.#old.forget(key, hash);
  }
}

/**
 * Entries in the order in which they came, found by a table of slots of which most are free. All has its full size from
 * the beginning: the system gives memory only where something is written, and to grow would hold clicks up.
 */
class Generation {
  #entries = 0;
  /** The number of an entry and one; 0 where there is none. An entry is in the first free slot from its hash on. */
  readonly #slots = new Uint32Array(slots);
  readonly #hashes = new Uint32Array(mostKept);
  readonly #moments = new Float64Array(mostKept);
  /** Where an entry's key begins, where its text does, and, of the entry behind it, where that ends. */
  readonly #places = new Uint32Array(2 * mostKept + 1);
  readonly #bytes = Buffer.allocUnsafeSlow(mostBytes);

  hasRoom(key: string, text: string): boolean {
    return this.#entries < mostKept && this.#used + 3 * (key.length + text.length) <= mostBytes;
  }

  find(key: string, hash: number): RecentText | undefined {
    const entry = (this.#slots[this.#slotOf(key, hash)] as number) - 1;
    if (entry === -1) return undefined;
    const text = this.#bytes.toString('utf8', this.#places[2 * entry + 1], this.#places[2 * entry + 2]);
    return { at: this.#moments[entry] as number, text };
  }

  /** Its place stays taken, by a text of before all times. */
  forget(key: string, hash: number): void {
    const entry = (this.#slots[this.#slotOf(key, hash)] as number) - 1;
    if (entry !== -1) this.#moments[entry] = Number.NEGATIVE_INFINITY;
  }

  add(key: string, hash: number, at: number, text: string): void {
    const keyAt = this.#used;
    const entry = this.#entries++;
    const textAt = keyAt + this.#bytes.write(key, keyAt, 'utf8');
    this.#places[2 * entry + 1] = textAt;
    this.#places[2 * entry + 2] = textAt + (text === '' ? 0 : this.#bytes.write(text, textAt, 'utf8'));
    this.#hashes[entry] = hash;
    this.#moments[entry] = at;
    this.#slots[this.#slotOf(key, hash)] = entry + 1;
  }

  clear(): void {
    this.#entries = 0;
    this.#slots.fill(0);
  }

  get #used(): number {
    return this.#places[2 * this.#entries] as number;
  }

  /** The slot of the key's entry, or the one where it would be. */
  #slotOf(key: string, hash: number): number {
    for (let slot = hash % slots; ; slot = (slot + 1) % slots) {
      const entry = (this.#slots[slot] as number) - 1;
      if (entry === -1 || (this.#hashes[entry] === hash && this.#keyOf(entry) === key)) return slot;
    }
  }

  #keyOf(entry: number): string {
    return this.#bytes.toString('utf8', this.#places[2 * entry], this.#places[2 * entry + 1]);
  }
}

/** Another one in every process, so that nobody can make up keys that all meet in one place. */
const seed = randomInt(2 ** 32);

/** FNV-1a, and its upper bits mixed into the lower ones, by which slots are chosen. */
function hashOf(text: string): number {
  let hash = seed;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 16_777_619);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
