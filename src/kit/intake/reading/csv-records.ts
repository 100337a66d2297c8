import { matchNames, sameNames } from './header-names.ts';
import { maxLineBytes, type FileProblem, type RecordSink, type RecordTaker } from './record-sink.ts';

const [cellStart, plain, quoted, quoteInQuotes, behindQuotes] = [0, 1, 2, 3, 4];
const [lineFeed, carriageReturn, space, quote, comma, backslash, letterT] = [0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x5c, 0x74];

/** A header is written into every record, so it may not be as long as it likes. */
const maxHeaderBytes = 64 * 1024;
/** Rows of separators alone that are passed over in one text: beyond them a file of nothing else counts as one. */
const maxBlankRows = 1000;

export interface CsvSettings {
  /** The byte between cells; a comma if not given. */
  delimiter?: number | undefined;
  /** Bytes before the header row that are passed over. */
  start?: number | undefined;
  /** Rows in these bytes, so that the rows behind keep their numbers. */
  rowsBefore?: number | undefined;
  /** Lines in these bytes. */
  linesBefore?: number | undefined;
  /** Names of the columns, where no row has them. */
  header?: readonly string[] | undefined;
  /** Names that a header may spell differently. */
  known?: readonly string[] | undefined;
  /** Of several columns that may have a known name the one that is written so has it. */
  exactFirst?: boolean | undefined;
  /** Writes the records, instead of as objects with the header's names. */
  rows?: TableRows | undefined;
  /** Rows of separators alone are no records, as blank lines are none: Excel writes some below a table. */
  passesOverBlank?: boolean | undefined;
  /** Nothing can follow the text, so a last row counts whose line has no end. */
  isWhole?: boolean | undefined;
}

/** Writes the records of a table otherwise than with the header's names. */
export interface TableRows {
  /** Takes the columns' names, before the first row. */
  begin(columns: readonly string[]): void;
  /** Writes a record without the end of its line; nothing of one that does not count. */
  write(row: TableRow, lines: RecordSink): void;
}

/** A row's cells, each as a JSON string's inside; that of an absent value has no bytes. */
export interface TableRow {
  bytes: Buffer;
  /** Offsets, by column. */
  starts: readonly number[];
  ends: readonly number[];
}

/**
 * Takes CSV apart, chunk by chunk, into its records as JSON, one a line: an object with the header's names, null for an
 * empty cell, for `\N` and for NULL without quotes. A row with too few or too many cells becomes the array of its
 * cells, and so does a last row whose line has no end, but in a whole text: neither is a record. Blank lines are no
 * rows. Spaces around quotes are passed over, a quote within a cell that does not begin with one is a character like
 * any other. A last column without a name is none, as long as its cells are empty.
 */
export class CsvRecords implements RecordTaker {
  columns: string[] | null = null;
  /** The row whose line has no end. */
  unterminatedRow: number | null = null;
  /** Number of cells with a bare NULL, by column. */
  readonly nullTexts = new Map<string, number>();
  /** Number of the first record's row. */
  readonly firstRow: number;
  readonly #lines: RecordSink;
  #state = cellStart;
  /** The open row's cells, each as a JSON string's inside, one behind the other. */
  #cells = Buffer.allocUnsafe(4096);
  #used = 0;
  #ends: number[] = [];
  readonly #starts: number[] = [];
  #rowHasBytes = false;
  #skipLineFeed = false;
  /** Text before the value of each column. */
  #keys: Buffer[] = [];
  #lastIsUnnamed = false;
  /** Columns of the open row with a bare NULL. */
  #nulls: number[] = [];
  /** Bytes that are still to be passed over. */
  #before: number;
  readonly #delimiter: number;
  readonly #known: readonly string[];
  readonly #exactFirst: boolean | undefined;
  readonly #rows: TableRows | undefined;
  readonly #passesOverBlank: boolean;
  #blankRows = 0;
  readonly #isWhole: boolean;
  /** Number of the line that is read, and of the one that the open row begins with. */
  #line: number;
  #rowLine: number;
  #problem: FileProblem | undefined;

  constructor(
    lines: RecordSink,
    {
      delimiter = comma,
      start = 0,
      rowsBefore = 0,
      linesBefore = 0,
      header,
      known = [],
      exactFirst,
      rows,
      passesOverBlank,
      isWhole,
    }: CsvSettings = {},
  ) {
    this.#lines = lines;
    this.#rows = rows;
    this.#delimiter = delimiter;
    this.#before = start;
    this.#known = known;
    this.#exactFirst = exactFirst;
    this.#passesOverBlank = passesOverBlank === true;
    this.#isWhole = isWhole === true;
    this.#line = linesBefore + 1;
    this.#rowLine = this.#line;
    this.firstRow = rowsBefore + (header === undefined ? 2 : 1);
    if (header !== undefined) this.#useHeader(header);
  }

  get problem(): FileProblem | undefined {
    return this.#problem;
  }

  take(chunk: Buffer): void {
    const start = Math.min(this.#before, chunk.length);
    this.#before -= start;
    for (let at = start; at < chunk.length && this.#problem === undefined; at++) {
      const byte = chunk[at] as number;
      if (this.#skipLineFeed) {
        this.#skipLineFeed = false;
        if (byte === lineFeed) continue;
      }
      if (byte === carriageReturn) this.#skipLineFeed = true;
      const endsLine = byte === lineFeed || byte === carriageReturn;
      if (endsLine) this.#line++;
      if (!endsLine || this.#state === quoted) this.#rowHasBytes = true;
      const isQuoted = this.#state === quoted;
      if (isQuoted || this.#state === plain || (this.#state === cellStart && byte !== space && byte !== quote)) {
        const end = endOfText(chunk, at, isQuoted ? quote : this.#delimiter);
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
      } else if (byte === this.#delimiter) this.#endCell();
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

  finish(): FileProblem | undefined {
    if (this.#problem === undefined && this.#state === quoted) {
      this.#problem = { reason: 'broken_csv', detail: `row ${this.#row}: a quote is opened and never closed` };
    }
    if (this.#problem === undefined && this.#rowHasBytes) {
      const [row, lines, isHeader] = [this.#row, this.#lines.lines, this.columns === null];
      this.#endRow(this.#isWhole);
      if (!isHeader && !this.#isWhole && this.#lines.lines > lines) this.unterminatedRow = row;
    }
    return this.#problem;
  }

  /** The open row's number. */
  get #row(): number {
    return this.columns === null ? this.firstRow - 1 : this.#lines.lines + this.firstRow;
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
    const start = this.#ends.length === 0 ? 0 : (this.#ends[this.#ends.length - 1] as number);
    if (this.#used - start === nullText.length && this.#state === plain && this.#endsWith(nullText, this.#used))
      this.#nulls.push(this.#ends.length);
    this.#ends.push(this.#used);
    this.#state = cellStart;
  }

  #endsWith(text: Buffer, end: number): boolean {
    const start = end - text.length;
    for (let at = 0; at < text.length; at++) if (this.#cells[start + at] !== text[at]) return false;
    return true;
  }

  #endRow(isTerminated: boolean): void {
    this.#endCell();
    if (this.columns === null) this.#takeHeader();
    else if (this.#rowHasBytes && this.#keys.length > 1 && this.#isBlank(isTerminated)) {
      if (this.#ends.length > 1) this.#lines.endLine();
    } else if (this.#rowHasBytes) this.#writeRow(isTerminated);
    this.#rowLine = this.#line;
    this.#used = 0;
    this.#ends.length = 0;
    if (this.#nulls.length > 0) this.#nulls = [];
    this.#rowHasBytes = false;
  }

  /** True for an open row whose cells have nothing but blanks. One of several that does not end may be cut. */
  #isBlank(isTerminated: boolean): boolean {
    const isOfSeveral = this.#ends.length > 1;
    if (isOfSeveral && !(this.#passesOverBlank && isTerminated && this.#blankRows < maxBlankRows)) return false;
    for (let at = 0; at < this.#used; at++) {
      // A tab is two bytes, as a JSON string has it.
      const isTab = this.#cells[at] === backslash && this.#cells[at + 1] === letterT;
      if (isTab) at++;
      else if (this.#cells[at] !== space) return false;
    }
    if (isOfSeveral) this.#blankRows++;
    return true;
  }

  #takeHeader(): void {
    const written = this.#ends.map(
      (end, index) => JSON.parse(`"${this.#cells.toString('utf8', this.#ends[index - 1] ?? 0, end)}"`) as string,
    );
    // Lines before the header that are blank are no header.
    if (written.length === 1 && written[0]?.trim() === '') return;
    if (this.#used > maxHeaderBytes)
      this.#problem = { reason: 'bad_header', detail: `the header row has more than ${maxHeaderBytes} bytes` };
    else this.#useHeader(written);
  }

  #useHeader(cells: readonly string[]): void {
    this.#lastIsUnnamed = cells.length > 1 && cells.at(-1)?.trim() === '';
    const written = this.#lastIsUnnamed ? cells.slice(0, -1) : cells;
    const names = matchNames(written, this.#known, this.#exactFirst);
    const same = sameNames(written, names);
    if (names.includes('') || same !== undefined) {
      const what = same === undefined || same[0] === same[1] ? '' : `; "${same[0]}" and "${same[1]}" are one name`;
      this.#problem = {
        reason: 'bad_header',
        detail: `the header row names no column or one twice: ${written.join(',').slice(0, 200)}${what}`,
      };
      return;
    }
    this.columns = names;
    this.#rows?.begin(names);
    this.#keys = names.map((name, index) => Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`));
  }

  #writeRow(isTerminated: boolean): void {
    const cells = this.#lastIsUnnamed && this.#endsInEmptyCell ? this.#keys.length : this.#ends.length;
    const isRecord = isTerminated && cells === this.#keys.length;
    this.#lines.beginAt?.(this.#rowLine);
    if (isRecord && this.#rows !== undefined) {
      this.#rows.write(this.#tableRow(cells), this.#lines);
      this.#lines.endLine();
      return;
    }
    let start = 0;
    for (let index = 0; index < cells; index++) {
      const end = this.#ends[index] as number;
      if (isRecord) this.#lines.bytes(this.#keys[index] as Buffer);
      else this.#lines.byte(index === 0 ? 0x5b : comma);
      if (isRecord && (start === end || this.#isAbsent(index, start, end))) {
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

  #tableRow(cells: number): TableRow {
    let start = 0;
    for (let index = 0; index < cells; index++) {
      const end = this.#ends[index] as number;
      this.#starts[index] = this.#isAbsent(index, start, end) ? end : start;
      start = end;
    }
    return { bytes: this.#cells, starts: this.#starts, ends: this.#ends };
  }

  /** The row has one cell more than columns have names, and that one is empty. */
  get #endsInEmptyCell(): boolean {
    return this.#ends.length === this.#keys.length + 1 && this.#ends.at(-1) === this.#ends.at(-2);
  }

  #isAbsent(column: number, start: number, end: number): boolean {
    if (end - start === absentText.length && this.#endsWith(absentText, end)) return true;
    if (this.#nulls.length === 0 || !this.#nulls.includes(column)) return false;
    const name = (this.columns as string[])[column] as string;
    this.nullTexts.set(name, (this.nullTexts.get(name) ?? 0) + 1);
    return true;
  }
}

const nothing = Buffer.from('null');
const nullText = Buffer.from('NULL');
/** `\N`, by which databases write what is absent, as a JSON string's inside. */
const absentText = Buffer.from('\\\\N');

/** Escapes of the characters that JSON strings cannot hold by themselves. */
const escapes: readonly (Buffer | undefined)[] = Array.from({ length: backslash + 1 }, (_, byte) =>
  byte < space || byte === quote || byte === backslash
    ? Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1))
    : undefined,
);

/** Returns the index of the next byte that does not stand for itself in a cell, or the chunk's end. */
function endOfText(chunk: Buffer, start: number, delimiter: number): number {
  let at = start;
  for (; at < chunk.length; at++) {
    const byte = chunk[at] as number;
    if (byte === quote || byte === backslash || byte < space || byte === delimiter) break;
  }
  return at;
}
