/** A piece of a frame; the last one of a frame says so. */
export interface FramePiece {
  bytes: Buffer;
  ends: boolean;
}

const magic = 0xfd2fb528;
/** Frames without content have numbers from this on, sixteen of them. */
const skippableMagic = 0x184d2a50;
/** Bytes of the field with the content's size, by its flag. */
const contentSizeBytes = [0, 2, 4, 8];
const dictionaryIdBytes = [0, 1, 2, 4];
/** The longest head of a frame: mark, flags, window, dictionary, size of the content. */
const maxHeadBytes = 18;
const checksumBytes = 4;

/**
 * Cuts what is packed by zstd into its frames (RFC 8878), since Node reads the first one and leaves out the others
 * without a word. Frames without content are left out. Throws for what is none.
 */
export class ZstdFrames {
  /** Bytes of a head that is not whole yet. */
  #held: Buffer = Buffer.alloc(0);
  /** Bytes that have to come before the next head. */
  #left = 0;
  #state: 'frame' | 'block' | 'lastBlock' | 'skipped' = 'frame';
  #hasChecksum = false;

  *cut(chunk: Buffer): Generator<FramePiece> {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    let from = 0;
    let at = 0;
    for (;;) {
      const passed = Math.min(this.#left, bytes.length - at);
      at += passed;
      this.#left -= passed;
      if (this.#left > 0) break;
      if (this.#state === 'skipped') from = at;
      if (this.#state === 'lastBlock' || this.#state === 'skipped') {
        if (this.#state === 'lastBlock') yield { bytes: bytes.subarray(from, at), ends: true };
        from = at;
        this.#state = 'frame';
      }
      const head = this.#state === 'frame' ? this.#frameHead(bytes.subarray(at)) : this.#blockHead(bytes.subarray(at));
      if (head === undefined) break;
      at += head;
    }
    // Heads are short, so what is held of them is.
    const end = this.#state === 'skipped' ? from : at;
    if (this.#state !== 'frame' && end > from) yield { bytes: Buffer.from(bytes.subarray(from, end)), ends: false };
    this.#held = this.#left > 0 ? Buffer.alloc(0) : Buffer.from(bytes.subarray(at));
  }

  /** Returns whether what came ends with a frame. */
  get isWhole(): boolean {
    return this.#state === 'frame' && this.#held.length === 0;
  }

  /** Returns the length of a frame's head; undefined where more of it has to come. */
  #frameHead(bytes: Buffer): number | undefined {
    if (bytes.length < 5) return undefined;
    const mark = bytes.readUInt32LE(0);
    if (mark >= skippableMagic && mark < skippableMagic + 16) {
      if (bytes.length < 8) return undefined;
      this.#state = 'skipped';
      this.#left = bytes.readUInt32LE(4);
      return 8;
    }
    if (mark !== magic) throw new Error('bytes follow the end of a frame that begin no other one');
    const flags = bytes.readUInt8(4);
    const isSingle = (flags & 0x20) !== 0;
    const sizeFlag = flags >> 6;
    const sizeBytes = sizeFlag === 0 && isSingle ? 1 : (contentSizeBytes[sizeFlag] as number);
    const length = 5 + (isSingle ? 0 : 1) + (dictionaryIdBytes[flags & 3] as number) + sizeBytes;
    if (bytes.length < Math.min(length, maxHeadBytes)) return undefined;
    this.#hasChecksum = (flags & 4) !== 0;
    this.#state = 'block';
    return length;
  }

  /** Returns the length of a block's head; undefined where more of it has to come. */
  #blockHead(bytes: Buffer): number | undefined {
    if (bytes.length < 3) return undefined;
    const head = bytes.readUIntLE(0, 3);
    // A block of one byte that repeats says how often in place of its size.
    this.#left = ((head >> 1) & 3) === 1 ? 1 : head >> 3;
    if ((head & 1) === 1) {
      this.#state = 'lastBlock';
      if (this.#hasChecksum) this.#left += checksumBytes;
    }
    return 3;
  }
}
