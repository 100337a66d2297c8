/** Of texts in a generation. Beyond that the older one is forgotten early. Bytes. */
const mostBytes = 32 * 1024 * 1024;
/** Before each text, its own length. Bytes. */
const lengthBytes = 4;
/** The number of a text that was too long to be kept: it is as if it were forgotten. */
const nowhere = 0;

/**
 * Texts of the last while, in two generations of bytes: one whose last text is so old goes as a whole, so that nothing
 * has to be looked for. On the heap they would be most of what garbage collection goes through.
 */
export class RecentTexts {
  readonly #within: number;
  #young = Buffer.allocUnsafeSlow(mostBytes);
  #old = Buffer.allocUnsafeSlow(mostBytes);
  #used = 0;
  /** The number of the young generation. */
  #generation = 2;
  #turnedAt = Number.NEGATIVE_INFINITY;

  /** `within`: for how long a text can be read. Milliseconds. */
  constructor(within: number) {
    this.#within = within;
  }

  /** Gives the number by which a text can be read. */
  keep(text: string, now: number): number {
    const most = lengthBytes + 3 * text.length;
    if (most > mostBytes) return nowhere;
    if (now < this.#turnedAt || now - this.#turnedAt >= this.#within || this.#used + most > mostBytes) this.#turn(now);
    const at = this.#used;
    const length = this.#young.write(text, at + lengthBytes, 'utf8');
    this.#young.writeUInt32LE(length, at);
    this.#used += lengthBytes + length;
    return this.#generation * mostBytes + at;
  }

  /** Undefined where it has been forgotten. */
  read(number: number): string | undefined {
    const age = this.#generation - Math.floor(number / mostBytes);
    if (age > 1) return undefined;
    const bytes = age === 0 ? this.#young : this.#old;
    const at = number % mostBytes;
    return bytes.toString('utf8', at + lengthBytes, at + lengthBytes + bytes.readUInt32LE(at));
  }

  #turn(now: number): void {
    [this.#young, this.#old] = [this.#old, this.#young];
    this.#used = 0;
    this.#generation++;
    this.#turnedAt = now;
  }
}
