import { maxLineBytes, type FileProblem } from '../landing-file.ts';
import type { LineFile } from './line-file.ts';

const [cellStart, plain, quoted, quoteInQuotes, behindQuotes] = [0, 1, 2, 3, 4];
const [lineFeed, carriageReturn, space, quote, comma, backslash] = [0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x5c];

/** A header is written into every record, so it may not be as long as it likes. */
const maxHeaderBytes = 64 * 1024;

/**
 * Takes CSV apart, chunk by chunk, into its records as JSON, one a line: an object with the header's names, null for an
 * empty cell. A row with too few or too many cells becomes the array of its cells, and so does a last row whose line
 * has no end: neither is a record. Blank lines are no rows. Spaces around quotes are passed over, a quote within a cell
 * that does not begin with one is a character like any other.
 */
export class CsvRecords {
  columns: string[] | null = null;
  /** The row whose line has no end. */
  unterminatedRow: number | null = null;
  readonly #lines: LineFile;
  #state = cellStart;
  /** The open row's cells, each as a JSON string's inside, one behind the other. */
  #cells = Buffer.allocUnsafe(4096);
  #used = 0;
  #ends: number[] = [];
  #rowHasBytes = false;
  #skipLineFeed = false;
  /** Text before the value of each column. */
  #keys: Buffer[] = [];
  #headerIsBlank = false;
  #problem: FileProblem | undefined;

  constructor(lines: LineFile) {
    this.#lines = lines;
  }

  /** Known before the end, if so: the rest is passed over. */
  get problem(): FileProblem | undefined {
    return this.#problem;
  }

  take(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && this.#problem === undefined; at++) {
      const byte = chunk[at] as number;
      if (this.#skipLineFeed) {
        this.#skipLineFeed = false;
        if (byte === lineFeed) continue;
      }
      if (byte === carriageReturn) this.#skipLineFeed = true;
      const endsLine = byte === lineFeed || byte === carriageReturn;
      if (!endsLine || this.#state === quoted) this.#rowHasBytes = true;
      const isQuoted = this.#state === quoted;
      if (isQuoted || this.#state === plain || (this.#state === cellStart && byte !== space && byte !== quote)) {
        const end = endOfText(chunk, at, isQuoted);
        if (end > at) {
          if (!isQuoted) this.#state = plain;
          this.#add(chunk, at, end);
          at = end - 1;
          continue;
        }
      }
      if (isQuoted) {
        if (byte === quote) this.#state = quoteInQuotes;
        else this.#escape(endsLine ? lineFeed : byte);
      } else if (this.#state === quoteInQuotes && byte === quote) {
        this.#escape(byte);
        this.#state = quoted;
      } else if (byte === comma) this.#endCell();
      else if (endsLine) this.#endRow(true);
      else if (this.#state === cellStart && byte === quote) {
        this.#used = this.#ends.at(-1) ?? 0;
        this.#state = quoted;
      } else if (this.#state === cellStart && byte === space) this.#add(chunk, at, at + 1);
      else if (this.#state === plain || this.#state === cellStart) {
        this.#escape(byte);
        this.#state = plain;
      } else if (byte === space) this.#state = behindQuotes;
      else this.#problem = { reason: 'broken_csv', detail: `row ${this.#row}: there is text behind a closing quote` };
    }
  }

  /** To be called when all was taken: why the file cannot be used, if so. */
  finish(): FileProblem | undefined {
    if (this.#problem === undefined && this.#state === quoted) {
      this.#problem = { reason: 'broken_csv', detail: `row ${this.#row}: a quote is opened and never closed` };
    }
    if (this.#problem === undefined && this.#rowHasBytes) {
      if (this.columns !== null) this.unterminatedRow = this.#row;
      this.#endRow(false);
    }
    return this.#problem;
  }

  /** The open row's number, with the header as row 1. */
  get #row(): number {
    return this.#lines.lines + (this.columns === null ? 1 : 2);
  }

  #add(chunk: Buffer, from: number, to: number): void {
    this.#makeRoom(to - from);
    if (to - from > 24) this.#used += chunk.copy(this.#cells, this.#used, from, to);
    else for (let at = from; at < to; at++) this.#cells[this.#used++] = chunk[at] as number;
  }

  #escape(byte: number): void {
    const escape = escapes[byte] as Buffer;
    this.#add(escape, 0, escape.length);
  }

  #makeRoom(bytes: number): void {
    if (this.#used + bytes + 3 * this.#ends.length > maxLineBytes) {
      this.#problem = { reason: 'line_too_long', detail: `row ${this.#row} has more than ${maxLineBytes} bytes` };
    }
    if (this.#used + bytes <= this.#cells.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#used + bytes));
    this.#cells.copy(larger, 0, 0, this.#used);
    this.#cells = larger;
  }

  #endCell(): void {
    this.#makeRoom(0);
    this.#ends.push(this.#used);
    this.#state = cellStart;
  }

  #endRow(isTerminated: boolean): void {
    this.#endCell();
    if (this.columns === null) this.#takeHeader();
    else if (this.#rowHasBytes) this.#writeRow(isTerminated);
    this.#used = 0;
    this.#ends = [];
    this.#rowHasBytes = false;
  }

  #takeHeader(): void {
    const names = this.#ends.map(
      (end, index) => JSON.parse(`"${this.#cells.toString('utf8', this.#ends[index - 1] ?? 0, end)}"`) as string,
    );
    // A text of nothing but blanks has no rows; nothing can follow a header that is blank.
    if (names.length === 1 && names[0]?.trim() === '') {
      this.#headerIsBlank = true;
    } else if (this.#headerIsBlank || names.includes('') || new Set(names).size !== names.length) {
      const written = this.#headerIsBlank ? '' : names.join(',').slice(0, 200);
      this.#problem = { reason: 'bad_header', detail: `the header row names no column or one twice: ${written}` };
    } else if (this.#used > maxHeaderBytes) {
      this.#problem = { reason: 'bad_header', detail: `the header row has more than ${maxHeaderBytes} bytes` };
    } else {
      this.columns = names;
      this.#keys = names.map((name, index) => Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`));
    }
  }

  #writeRow(isTerminated: boolean): void {
    const isRecord = isTerminated && this.#ends.length === this.#keys.length;
    let start = 0;
    for (let index = 0; index < this.#ends.length; index++) {
      const end = this.#ends[index] as number;
      if (isRecord) this.#lines.bytes(this.#keys[index] as Buffer);
      else this.#lines.byte(index === 0 ? 0x5b : comma);
      if (isRecord && start === end) {
        this.#lines.bytes(nothing);
      } else {
        this.#lines.byte(quote);
        this.#lines.bytes(this.#cells, start, end);
        this.#lines.byte(quote);
      }
      start = end;
    }
    this.#lines.byte(isRecord ? 0x7d : 0x5d);
    this.#lines.endLine();
  }
}

const nothing = Buffer.from('null');

/** Escapes of the characters that JSON strings cannot hold by themselves. */
const escapes: readonly (Buffer | undefined)[] = Array.from({ length: backslash + 1 }, (_, byte) =>
  byte < 0x20 || byte === quote || byte === backslash
    ? Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1))
    : undefined,
);

/** Finds the next character that is not plain text: its index, or the chunk's end. */
function endOfText(chunk: Buffer, start: number, isQuoted: boolean): number {
  let at = start;
  for (; at < chunk.length; at++) {
    const byte = chunk[at] as number;
    if (byte === quote || byte === backslash || byte < space || (byte === comma && !isQuoted)) break;
  }
  return at;
}
