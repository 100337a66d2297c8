/** Days since the epoch, UTC. */
export type DayNumber = number;

/** A value of the table: two digests of 32 bits, and the day of the entry. */
export interface DigestEntry {
  content: number;
  click: number;
  day: DayNumber;
}

/**
 * A hash table by 64-bit digests, in 18 bytes a slot where a Map takes 150. Open addressing over columns of numbers; a
 * slot of day 0 is empty.
 */
export class DigestTable {
  readonly slots: number;
  readonly #high: Uint32Array;
  readonly #low: Uint32Array;
  readonly #content: Uint32Array;
  readonly #click: Uint32Array;
  readonly #day: Uint16Array;
  #size = 0;

  /** `slots`: a power of two. */
  constructor(slots: number) {
    this.slots = slots;
    this.#high = new Uint32Array(slots);
    this.#low = new Uint32Array(slots);
    this.#content = new Uint32Array(slots);
    this.#click = new Uint32Array(slots);
    this.#day = new Uint16Array(slots);
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.slots * (4 * Uint32Array.BYTES_PER_ELEMENT + Uint16Array.BYTES_PER_ELEMENT);
  }

  get(high: number, low: number): DigestEntry | undefined {
    const slot = this.#slotOf(high, low);
    const day = this.#day[slot] as number;
    return day === 0 ? undefined : { content: this.#content[slot] as number, click: this.#click[slot] as number, day };
  }

  put(high: number, low: number, { content, click, day }: DigestEntry): void {
    const slot = this.#slotOf(high, low);
    if (this.#day[slot] === 0) this.#size++;
    this.#high[slot] = high;
    this.#low[slot] = low;
    this.#content[slot] = content;
    this.#click[slot] = click;
    this.#day[slot] = day;
  }

  sizeSince(oldest: DayNumber): number {
    return this.#day.reduce((sum, day) => sum + (day !== 0 && day >= oldest ? 1 : 0), 0);
  }

  copyTo(other: DigestTable, oldest: DayNumber): void {
    for (const [slot, day] of this.#day.entries()) {
      if (day === 0 || day < oldest) continue;
      const [content, click] = [this.#content[slot] as number, this.#click[slot] as number];
      other.put(this.#high[slot] as number, this.#low[slot] as number, { content, click, day });
    }
  }

  /** The slot of the key, or the empty one in which it belongs. */
  #slotOf(high: number, low: number): number {
    const mask = this.slots - 1;
    let slot = low & mask;
    while (this.#day[slot] !== 0 && (this.#high[slot] !== high || this.#low[slot] !== low)) slot = (slot + 1) & mask;
    return slot;
  }
}
