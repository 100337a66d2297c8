import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { WordPairs } from '../../../kit/duckdb/word-pairs.ts';
import { writeAt } from '../../../kit/files/write-at.ts';

/**
 * A key run: the keys of many events, sorted, each with the day of its event. The file is a page with what it
 * is, then pages of entries, then of every page of entries the high word of its first entry. All numbers are
 * little-endian. An entry is 64 bits: the upper 48 bits of the key, then the day's number. Two events may share those
 * 48 bits, so what is found is a day to look at and no proof.
 */
const magic = Buffer.from('OFFKEYS1');
const pageBytes = 4096;
/** A page begins with the CRC-32 of its entries and the number of them. */
const pageHeaderBytes = 8;
export const entriesPerPage = (pageBytes - pageHeaderBytes) / 8;

/** Pages read at once where most of them are asked for. */
const pagesAtOnce = 64;
/** Pages for each key looked up, above which only the pages that may have one are read. */
const sparse = 4;

/** Sorted by both words: `high` are the upper 32 bits of a key, the upper half of `low` are the next 16. */
export type SortedKeys = WordPairs;

/** A key run whose bytes are not what was written. It can be made again from the event files at any time. */
export class DamagedKeyRun extends Error {}

/**
 * Writes entries, sorted by both words, chunk by chunk. The lower half of `low` is the day's number. Gives how many.
 */
export async function writeKeyRun(path: string, chunks: AsyncIterable<SortedKeys>): Promise<number> {
  const file = await open(path, 'w');
  try {
    const first: number[] = [];
    let page = Buffer.alloc(pageBytes);
    let pageWords = new Uint32Array(page.buffer, page.byteOffset, pageBytes / 4);
    let inPage = 0;
    let entries = 0;
    let full: Buffer[] = [];
    // The first page comes last, when it is known what the file holds.
    let position = pageBytes;
    const flush = async () => {
      if (full.length === 0) return;
      const bytes = Buffer.concat(full);
      await writeAt(file, bytes, position);
      position += bytes.length;
      full = [];
    };
    const endPage = () => {
      page.writeUInt32LE(crc32(page.subarray(pageHeaderBytes)), 0);
      page.writeUInt32LE(inPage, 4);
      full.push(page);
      page = Buffer.alloc(pageBytes);
      pageWords = new Uint32Array(page.buffer, page.byteOffset, pageBytes / 4);
      inPage = 0;
    };
    for await (const { high, low } of chunks) {
      for (let index = 0; index < high.length; index++) {
        if (inPage === 0) first.push(high[index] as number);
        const at = (pageHeaderBytes + 8 * inPage++) / 4;
        pageWords[at] = high[index] as number;
        pageWords[at + 1] = low[index] as number;
        if (inPage === entriesPerPage) endPage();
      }
      entries += high.length;
      if (full.length >= pagesAtOnce) await flush();
    }
    if (inPage > 0) endPage();
    await flush();
    const fences = Buffer.from(Uint32Array.from(first).buffer);
    await writeAt(file, fences, position);
    const head = Buffer.alloc(pageBytes);
    magic.copy(head);
    head.writeDoubleLE(entries, 8);
    head.writeUInt32LE(crc32(fences), 16);
    head.writeUInt32LE(crc32(head.subarray(0, 20)), 20);
    await writeAt(file, head, 0);
    return entries;
  } finally {
    await file.close();
  }
}

/** A key run, open for look-ups. Throws `DamagedKeyRun`, and what the file system says. */
export class KeyRun implements Disposable {
  readonly entries: number;
  readonly #file: number;
  /** The high word of each page's first entry. */
  readonly #fences: Uint32Array;
  readonly #path: string;
  readonly #window = Buffer.alloc(pagesAtOnce * pageBytes);
  #windowStart = 0;
  #windowPages = 0;

  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, 'r');
    try {
      const head = this.#read(Buffer.alloc(pageBytes), 0);
      if (!head.subarray(0, 8).equals(magic) || head.readUInt32LE(20) !== crc32(head.subarray(0, 20)))
        throw this.#damaged();
      this.entries = head.readDoubleLE(8);
      const pages = Math.ceil(this.entries / entriesPerPage);
      const start = (pages + 1) * pageBytes;
      if (fstatSync(this.#file).size !== start + 4 * pages) throw this.#damaged();
      this.#fences = new Uint32Array(pages);
      const bytes = this.#read(Buffer.from(this.#fences.buffer), start);
      if (crc32(bytes) !== head.readUInt32LE(16)) throw this.#damaged();
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  get pages(): number {
    return this.#fences.length;
  }

  /** Adds to `days` the numbers of the days on which an event may have one of the keys. */
  findDays({ high, low }: SortedKeys, days: Set<number>): void {
    const isSparse = this.pages > sparse * high.length;
    let page = 0;
    for (let index = 0; index < high.length; index++) {
      const [wantedHigh, wantedLow] = [high[index] as number, (low[index] as number) >>> 16];
      page = this.#lastPageBefore(wantedHigh, page, isSparse);
      for (let at = page; at < this.pages && (this.#fences[at] as number) <= wantedHigh; at++) {
        const bytes = this.#page(at, isSparse);
        const inPage = bytes.readUInt32LE(4);
        for (let entry = firstFrom(bytes, inPage, wantedHigh); entry < inPage; entry++) {
          const offset = pageHeaderBytes + 8 * entry;
          if (bytes.readUInt32LE(offset) !== wantedHigh) break;
          const found = bytes.readUInt32LE(offset + 4);
          if (found >>> 16 === wantedLow) days.add(found & 0xffff);
        }
      }
    }
  }

  /** Yields all entries, a page at a time. */
  *all(): Generator<SortedKeys> {
    for (let page = 0; page < this.pages; page++) {
      const bytes = this.#page(page, false);
      const inPage = bytes.readUInt32LE(4);
      const keys = { high: new Uint32Array(inPage), low: new Uint32Array(inPage) };
      for (let entry = 0; entry < inPage; entry++) {
        keys.high[entry] = bytes.readUInt32LE(pageHeaderBytes + 8 * entry);
        keys.low[entry] = bytes.readUInt32LE(pageHeaderBytes + 8 * entry + 4);
      }
      yield keys;
    }
  }

  /**
   * The page where entries with this high word begin, at `from` or later: the last one that begins with a lower one.
   */
  #lastPageBefore(high: number, from: number, isSparse: boolean): number {
    if (!isSparse) {
      let page = from;
      while (page + 1 < this.pages && (this.#fences[page + 1] as number) < high) page++;
      return page;
    }
    let [low, end] = [from, this.pages];
    while (end - low > 1) {
      const middle = (low + end) >>> 1;
      if ((this.#fences[middle] as number) < high) low = middle;
      else end = middle;
    }
    return low;
  }

  #page(page: number, isSparse: boolean): Buffer {
    if (page < this.#windowStart || page >= this.#windowStart + this.#windowPages) {
      const pages = isSparse ? 1 : Math.min(pagesAtOnce, this.pages - page);
      this.#read(this.#window.subarray(0, pages * pageBytes), (page + 1) * pageBytes);
      this.#windowStart = page;
      this.#windowPages = pages;
      for (let index = 0; index < pages; index++) {
        const bytes = this.#window.subarray(index * pageBytes, (index + 1) * pageBytes);
        if (
          bytes.readUInt32LE(0) !== crc32(bytes.subarray(pageHeaderBytes)) ||
          bytes.readUInt32LE(4) > entriesPerPage
        ) {
          this.#windowPages = 0;
          throw this.#damaged();
        }
      }
    }
    const start = (page - this.#windowStart) * pageBytes;
    return this.#window.subarray(start, start + pageBytes);
  }

  #read(into: Buffer, position: number): Buffer {
    if (readSync(this.#file, into, 0, into.length, position) !== into.length) throw this.#damaged();
    return into;
  }

  #damaged(): DamagedKeyRun {
    return new DamagedKeyRun(`${this.#path} is not what was written`);
  }
}

/** The first entry of a page whose high word is not lower. */
function firstFrom(page: Buffer, entries: number, high: number): number {
  let [low, end] = [0, entries];
  while (low < end) {
    const middle = (low + end) >>> 1;
    if (page.readUInt32LE(pageHeaderBytes + 8 * middle) < high) low = middle + 1;
    else end = middle;
  }
  return low;
}
