import { UnusableFile } from '../record-sink.ts';

/** The texts of a workbook are in memory while its sheet refers to them by number. */
const maxBytes = 256 * 1024 * 1024;

/** Texts one behind the other, which takes a fraction of what as many strings would. */
export class SharedStrings {
  #bytes = Buffer.allocUnsafe(64 * 1024);
  #used = 0;
  #ends = new Uint32Array(1024);
  #count = 0;

  add(text: string): void {
    const length = Buffer.byteLength(text);
    if (this.#used + length > maxBytes)
      throw new UnusableFile({
        reason: 'workbook_too_large',
        detail: `the texts of the workbook take more than ${maxBytes} bytes: save the sheet as CSV`,
      });
    if (this.#used + length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * (this.#used + length));
      this.#bytes.copy(larger, 0, 0, this.#used);
      this.#bytes = larger;
    }
    if (this.#count === this.#ends.length) {
      const more = new Uint32Array(2 * this.#count);
      more.set(this.#ends);
      this.#ends = more;
    }
    this.#used += this.#bytes.write(text, this.#used);
    this.#ends[this.#count++] = this.#used;
  }

  at(index: number): string | undefined {
    if (!Number.isInteger(index) || index < 0 || index >= this.#count) return undefined;
    return this.#bytes.toString('utf8', index === 0 ? 0 : this.#ends[index - 1], this.#ends[index]);
  }
}
