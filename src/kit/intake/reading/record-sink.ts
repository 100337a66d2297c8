/** Reason why a file as a whole cannot be read. */
export interface FileProblem {
  /** The code that the ledger keeps. */
  reason: string;
  detail: string;
}

/** A file cannot be used, whatever comes behind what was read of it. */
export class UnusableFile extends Error {
  readonly problem: FileProblem;
  constructor(problem: FileProblem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** A longer line is not a record of ours but an accident, and DuckDB needs a bound for its line buffer. */
export const maxLineBytes = 16 * 1024 * 1024;

/** Takes records as lines of JSON: a scratch file, or a list in memory. Copies what it is given. */
export interface RecordSink {
  /** Lines that have ended. */
  readonly lines: number;
  /** Bytes of the longest line. */
  readonly longest: number;
  /** Bytes of the line that is not ended yet. */
  readonly openLine: number;
  /** Called before a row of CSV, with the number of its first line in the text. */
  beginAt?(line: number): void;
  byte(byte: number): void;
  bytes(source: Buffer, from?: number, to?: number): void;
  endLine(): void;
}

/** Takes a text apart into records, chunk by chunk. */
export interface RecordTaker {
  /** Known before the end, if so: the rest is passed over. */
  readonly problem: FileProblem | undefined;
  /** May change the chunk, and keeps no part of it. */
  take(chunk: Buffer): void;
  /** Expects that all was taken. Returns the reason why the text cannot be used, if there is one. */
  finish(): FileProblem | undefined;
}

/** A record as JSON, and where it is in its text: of CSV the line, of a sheet the row, else the record's number. */
export interface PlacedRecord {
  line: number;
  text: string;
}

/** Keeps records in memory, for texts of a bounded size. */
export class RecordList implements RecordSink {
  lines = 0;
  longest = 0;
  /** Lines of a text at which records begin, where their taker names them. */
  readonly #begins: number[] = [];
  readonly #maxBytes: number;
  /** Blocks of whole lines: one buffer that grows would be copied, and held twice, again and again. */
  readonly #full: Buffer[] = [];
  #fullBytes = 0;
  #block: Buffer = Buffer.alloc(0);
  #used = 0;
  #lineStart = 0;

  /** Takes so many bytes of records at most: names of columns may make long records of a few commas. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get openLine(): number {
    return this.#used - this.#lineStart;
  }

  /** Returns the records. `firstRow`: the number of the first line's record. */
  records(firstRow: number): PlacedRecord[] {
    const records: PlacedRecord[] = [];
    let index = 0;
    for (const block of [...this.#full, this.#block.subarray(0, this.#used)])
      for (let start = 0; start < block.length; index++) {
        const found = block.indexOf(lineFeed, start);
        const end = found === -1 ? block.length : found;
        const text = block.toString('utf8', start, end);
        if (text.trim() !== '') records.push({ line: this.#begins[index] ?? firstRow + index, text });
        start = end + 1;
      }
    return records;
  }

  beginAt(line: number): void {
    this.#begins[this.lines] = line;
  }

  byte(byte: number): void {
    this.#makeRoom(1);
    this.#block[this.#used++] = byte;
  }

  bytes(source: Buffer, from = 0, to = source.length): void {
    this.#makeRoom(to - from);
    this.#used += source.copy(this.#block, this.#used, from, to);
  }

  endLine(): void {
    this.longest = Math.max(this.longest, this.openLine);
    this.lines++;
    this.byte(lineFeed);
    this.#lineStart = this.#used;
    if (this.#used < blockBytes) return;
    this.#full.push(this.#block.subarray(0, this.#used));
    this.#fullBytes += this.#used;
    this.#block = Buffer.alloc(0);
    this.#used = 0;
    this.#lineStart = 0;
  }

  #makeRoom(bytes: number): void {
    const needed = this.#used + bytes;
    if (this.#fullBytes + needed > this.#maxBytes)
      throw new UnusableFile({
        reason: 'document_too_large',
        detail: `its records take more than ${this.#maxBytes} bytes: send it in parts`,
      });
    if (needed <= this.#block.length) return;
    const larger = Buffer.allocUnsafe(Math.min(2 * needed, this.#maxBytes));
    this.#block.copy(larger, 0, 0, this.#used);
    this.#block = larger;
  }
}

/** A block may be longer by a line. */
const blockBytes = 2 ** 20;
const lineFeed = 0x0a;
