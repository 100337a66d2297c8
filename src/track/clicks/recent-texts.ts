import { randomInt } from 'node:crypto';

/** A text that was kept, and when. Milliseconds since the epoch. */
export interface RecentText {
  at: number;
  text: string;
}

/** So many, and so many bytes, are kept in a generation. Beyond that the older one is forgotten early. */
const mostKept = 200_000;
const mostBytes = 64 * 1024 * 1024;

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
    if (at < this.#turnedAt || at - this.#turnedAt >= this.#within || this.#young.isFull) {
      [this.#young, this.#old] = [this.#old, this.#young];
      this.#young.clear();
      this.#turnedAt = at;
    }
    this.#young.add(key, hashOf(key), at, text);
  }
}

/** Entries in the order in which they came, found by a table of slots that is at most half full. */
class Generation {
  #capacity = 1024;
  #entries = 0;
  /** The number of an entry and one; 0 where there is none. An entry is in the first free slot from its hash on. */
  #slots = new Uint32Array(2 * this.#capacity);
  #hashes = new Uint32Array(this.#capacity);
  #moments = new Float64Array(this.#capacity);
  /** Where an entry's key begins, where its text does, and, of the entry behind it, where that ends. */
  #places = new Uint32Array(2 * this.#capacity + 1);
  #bytes = Buffer.allocUnsafeSlow(64 * this.#capacity);

  get isFull(): boolean {
    return this.#entries >= mostKept || this.#used >= mostBytes;
  }

  find(key: string, hash: number): RecentText | undefined {
    const entry = (this.#slots[this.#slotOf(key, hash)] as number) - 1;
    if (entry === -1) return undefined;
    const text = this.#bytes.toString('utf8', this.#places[2 * entry + 1], this.#places[2 * entry + 2]);
    return { at: this.#moments[entry] as number, text };
  }

  add(key: string, hash: number, at: number, text: string): void {
    this.#makeRoom(3 * (key.length + text.length));
    const keyAt = this.#used;
    const entry = this.#entries++;
    const textAt = keyAt + this.#bytes.write(key, keyAt, 'utf8');
    this.#places[2 * entry + 1] = textAt;
    this.#places[2 * entry + 2] = textAt + this.#bytes.write(text, textAt, 'utf8');
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
    const last = this.#slots.length - 1;
    for (let slot = hash & last; ; slot = (slot + 1) & last) {
      const entry = (this.#slots[slot] as number) - 1;
      if (entry === -1 || (this.#hashes[entry] === hash && this.#keyOf(entry) === key)) return slot;
    }
  }

  #keyOf(entry: number): string {
    return this.#bytes.toString('utf8', this.#places[2 * entry], this.#places[2 * entry + 1]);
  }

  #makeRoom(bytes: number): void {
    if (this.#used + bytes > this.#bytes.length) {
      const longer = Buffer.allocUnsafeSlow(2 * this.#bytes.length + bytes);
      this.#bytes.copy(longer, 0, 0, this.#used);
      this.#bytes = longer;
    }
    if (this.#entries < this.#capacity) return;
    this.#capacity *= 2;
    this.#hashes = grown(this.#hashes, new Uint32Array(this.#capacity));
    this.#moments = grown(this.#moments, new Float64Array(this.#capacity));
    this.#places = grown(this.#places, new Uint32Array(2 * this.#capacity + 1));
    this.#slots = new Uint32Array(2 * this.#capacity);
    const last = this.#slots.length - 1;
    for (let entry = 0; entry < this.#entries; entry++) {
      let slot = (this.#hashes[entry] as number) & last;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & last;
      this.#slots[slot] = entry + 1;
    }
  }
}

function grown<Table extends Uint32Array | Float64Array>(table: Table, larger: Table): Table {
  larger.set(table);
  return larger;
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
