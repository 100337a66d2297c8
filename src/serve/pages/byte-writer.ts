import { amountText } from '../offers/money.ts';

/** Up to this length bytes are copied one by one: a call of the copying function costs as much. */
const fewBytes = 24;

const zero = 0x30;
const point = 0x2e;

/** Bytes put together part by part, in room that can be used again. */
export class ByteWriter {
  #room: Buffer;
  #length = 0;

  /** With room for so many bytes at first. */
  constructor(bytes: number) {
    this.#room = Buffer.allocUnsafeSlow(bytes);
  }

  get length(): number {
    return this.#length;
  }

  /** How many bytes it holds memory for. */
  get room(): number {
    return this.#room.length;
  }

  /** What is written; valid until the next writing. */
  get bytes(): Buffer {
    return this.#room.subarray(0, this.#length);
  }

  /** Any text, as UTF-8. */
  text(text: string): void {
    // UTF-8 takes three bytes at most for each of a string's units.
    const room = this.#roomFor(text.length * 3);
    this.#length += room.write(text, this.#length);
  }

  /** Text of ASCII characters alone, and short. */
  ascii(text: string): void {
    const { length } = text;
    const room = this.#roomFor(length);
    const start = this.#length;
    for (let place = 0; place < length; place++) room[start + place] = text.charCodeAt(place);
    this.#length = start + length;
  }

  /** Ten-thousandths, not negative, as the shortest JSON number: 1.5, 0.0123, 3. */
  amount(tenThousandths: number | bigint): void {
    if (typeof tenThousandths === 'bigint') return this.ascii(amountText(tenThousandths));
    const whole = Math.floor(tenThousandths / 10_000);
    if (whole > 999) this.ascii(String(whole));
    else {
      const room = this.#roomFor(3);
      if (whole > 99) room[this.#length++] = zero + Math.floor(whole / 100);
      if (whole > 9) room[this.#length++] = zero + (Math.floor(whole / 10) % 10);
      room[this.#length++] = zero + (whole % 10);
    }
    let rest = tenThousandths - whole * 10_000;
    if (rest === 0) return;
    const room = this.#roomFor(5);
    room[this.#length++] = point;
    for (let unit = 1000; rest > 0; unit /= 10) {
      const digit = Math.floor(rest / unit);
      room[this.#length++] = zero + digit;
      rest -= digit * unit;
    }
  }

  /** Of what another has written, the bytes from one place up to another. */
  copy(source: ByteWriter, from: number, to: number): void {
    const length = to - from;
    const bytes = source.#room;
    const room = this.#roomFor(length);
    const start = this.#length;
    if (length > fewBytes) bytes.copy(room, start, from, to);
    else for (let place = 0; place < length; place++) room[start + place] = bytes[from + place] as number;
    this.#length = start + length;
  }

  /** Begins anew. */
  clear(): void {
    this.#length = 0;
  }

  #roomFor(bytes: number): Buffer {
    const needed = this.#length + bytes;
    if (needed <= this.#room.length) return this.#room;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#room.length * 2));
    this.#room.copy(larger, 0, 0, this.#length);
    this.#room = larger;
    return larger;
  }
}
