import type { FormatSettings } from '../format-settings.ts';
import { HeaderSearch, type ScoreHeader } from '../header-search.ts';
import { matchNames, sameNames } from '../header-names.ts';
import type { RecordNames } from '../json-shape.ts';
import { maxLineBytes, UnusableFile, type RecordSink } from '../record-sink.ts';
import type { ZipMembers } from '../zip-members.ts';
import { columnOf, dateText, numberText } from './cell-text.ts';
import { openWorkbook, TextElements, type Workbook } from './workbook.ts';
import { readXml } from './xml-events.ts';

/** Rows that a sheet of Excel may have. */
const maxRows = 1_048_576;
const maxColumns = 16_384;

export interface ReadSheet {
  columns: string[] | null;
  /** The number of the first line's row in the sheet. */
  firstRow: number;
  /** Row of a header that was found below others. */
  headerRow: number | undefined;
  /** Number of cells with an error such as `#N/A`, by column. */
  nullTexts: ReadonlyMap<string, number>;
}

interface SheetReading {
  settings: FormatSettings;
  names: RecordNames;
  score?: ScoreHeader | undefined;
  /** Sees all bytes of members that are read before they count. */
  check: (chunk: Buffer) => void;
}

/**
 * Reads a sheet of a workbook into records, one a line, with a blank line for each row without a value, so that lines
 * keep the numbers of their rows. The header is the first row with a value, unless the settings say otherwise. Cells
 * are texts: numbers as they are written, moments without a zone; an error is no value. A row with a value beyond the
 * header is the list of its cells, which is no record. Throws `UnusableFile`.
 */
export async function readSheet(
  members: ZipMembers,
  sink: RecordSink,
  { settings, names, score, check }: SheetReading,
): Promise<ReadSheet> {
  const workbook = await openWorkbook(members, settings.sheet ?? 1, check);
  const rows = new SheetRows(sink, settings, { names, score });
  const texts = new TextElements();
  let cell: Cell | undefined;
  let row = 0;
  let column = 0;
  await readXml(members, workbook.sheet, check, {
    open(name, attributes) {
      texts.open(name);
      if (name === 'row') {
        row = Number(attributes['r'] ?? row + 1);
        column = 0;
        rows.begin(row);
      } else if (name === 'c') {
        column = columnOf(attributes['r']) ?? column;
        cell = { type: attributes['t'] ?? 'n', style: Number(attributes['s'] ?? 0), value: '', inValue: false };
      } else if (name === 'v' && cell !== undefined) cell.inValue = true;
    },
    text(part) {
      if (cell !== undefined && (cell.inValue || texts.isText)) cell.value += part;
    },
    close(name) {
      texts.close(name);
      if (name === 'v' && cell !== undefined) cell.inValue = false;
      if (name === 'row') rows.end();
      if (name !== 'c' || cell === undefined) return;
      rows.add(column++, cellText(cell, workbook), cell.type === 'e');
      cell = undefined;
    },
  });
  rows.finish(workbook.others);
  const { columns, firstRow, headerRow, nullTexts } = rows;
  return { columns, firstRow, headerRow, nullTexts };
}

interface Cell {
  type: string;
  style: number;
  value: string;
  inValue: boolean;
}

function cellText({ type, style, value }: Cell, { strings, datesByStyle, since1904 }: Workbook): string {
  if (value === '') return '';
  switch (type) {
    case 's': {
      const text = strings.at(Number(value));
      if (text === undefined)
        throw new UnusableFile({ reason: 'broken_xlsx', detail: `the workbook has no text number ${value}` });
      return text;
    }
    case 'b':
      return value === '1' ? 'true' : 'false';
    case 'n':
      return (datesByStyle[style] === true ? dateText(value, since1904) : undefined) ?? numberText(value);
    default:
      return value;
  }
}

/** Writes the rows of a sheet as they come apart. */
class SheetRows {
  columns: string[] | null = null;
  firstRow = 1;
  headerRow: number | undefined;
  readonly nullTexts = new Map<string, number>();
  readonly #sink: RecordSink;
  readonly #names: RecordNames;
  /** The first row that may be the header. */
  readonly #headerFrom: number;
  /** The header has its row, also where that is blank. */
  readonly #headerIsThere: boolean;
  #skipped: string | undefined;
  readonly #rowsSkipped: number;
  readonly #search: HeaderSearch | undefined;
  /** Rows that came while the header was searched for. */
  #held: { row: number; cells: string[]; errors: Set<number> }[] = [];
  #row = 0;
  #isBlank = true;
  #cells: string[] = [];
  /** Columns of the open row with an error. */
  #errors = new Set<number>();
  #bytes = 0;

  constructor(
    sink: RecordSink,
    { skip = 0, header: given }: FormatSettings,
    { names, score }: Pick<SheetReading, 'names' | 'score'>,
  ) {
    const header = given ?? 1;
    this.#search = score === undefined || given !== undefined ? undefined : new HeaderSearch(score);
    this.#sink = sink;
    this.#names = names;
    const rows = typeof skip === 'number' ? skip : 0;
    this.#rowsSkipped = rows;
    this.#skipped = typeof skip === 'string' ? skip : undefined;
    this.#headerIsThere = typeof header === 'number' && header > 1;
    this.#headerFrom = rows + (typeof header === 'number' ? header : 1);
    this.firstRow = this.#headerFrom;
    if (typeof header !== 'number') this.#useHeader(header);
  }

  begin(row: number): void {
    if (!Number.isInteger(row) || row <= this.#row || row > maxRows)
      throw new UnusableFile({ reason: 'broken_xlsx', detail: `a row has the number ${row} behind row ${this.#row}` });
    this.#row = row;
    this.#cells = [];
    this.#errors = new Set();
    this.#bytes = 0;
  }

  add(column: number, text: string, isError: boolean): void {
    if (text === '') return;
    if (isError) this.#errors.add(column);
    this.#isBlank = false;
    if (column >= maxColumns)
      throw new UnusableFile({ reason: 'broken_xlsx', detail: `row ${this.#row} has more than ${maxColumns} columns` });
    this.#bytes += text.length + 3 * Math.max(0, column - this.#cells.length);
    if (this.#bytes > maxLineBytes)
      throw new UnusableFile({
        reason: 'line_too_long',
        detail: `row ${this.#row} has more than ${maxLineBytes} bytes`,
      });
    while (this.#cells.length < column) this.#cells.push('');
    this.#cells[column] = text;
  }

  end(): void {
    if (this.#row < this.#headerFrom) return;
    if (this.columns !== null || this.#search === undefined) return this.#take();
    if (this.#cells.length === 0) return;
    this.#held.push({ row: this.#row, cells: this.#cells, errors: this.#errors });
    this.#search.see(this.#row, this.#cells);
    if (this.#search.isOver) this.#takeHeld();
  }

  /** Takes what is held where the header was not found so far. `others`: sheets that may be meant. */
  finish(others: readonly string[]): void {
    if (this.columns === null) this.#takeHeld();
    if (this.columns !== null || (this.#isBlank && others.length === 0)) return;
    throw new UnusableFile({
      reason: 'bad_header',
      detail: this.#isBlank
        ? `the sheet is blank, and there are others: ${others.join(', ').slice(0, 200)}; "sheet" of a mapping says which counts`
        : `no header row begins behind what is skipped, in its ${this.#row} rows`,
    });
  }

  #takeHeld(): void {
    const below = this.#search?.rowBelow;
    if (below !== undefined) this.headerRow = below - this.#rowsSkipped;
    for (const { row, cells, errors } of this.#held) {
      if (row < (below ?? 1)) continue;
      this.#row = row;
      this.#cells = cells;
      this.#errors = errors;
      this.#take();
    }
    this.#held = [];
  }

  #take(): void {
    if (this.columns === null) this.#takeHeader();
    else if (this.#cells.length > 0) this.#write(this.columns);
  }

  #takeHeader(): void {
    const [first] = this.#cells;
    if (this.#skipped !== undefined && first?.startsWith(this.#skipped) === true) return;
    if (this.#cells.length === 0 && !this.#headerIsThere) return;
    this.#useHeader(this.#cells);
    this.firstRow = this.#row + 1;
  }

  #useHeader(written: readonly string[]): void {
    const names = matchNames(written, this.#names.fields, this.#names.exactFirst);
    if (names.length === 0 || names.includes('') || sameNames(written, names) !== undefined)
      throw new UnusableFile({
        reason: 'bad_header',
        detail: `the header row names no column or one twice: ${written.join(',').slice(0, 200)}`,
      });
    this.columns = names;
  }

  #write(columns: readonly string[]): void {
    while (this.firstRow + this.#sink.lines < this.#row) this.#sink.endLine();
    const isRecord = this.#cells.length <= columns.length;
    const record = isRecord
      ? `{${columns.map((name, index) => `${JSON.stringify(name)}:${this.#valueJson(name, index)}`).join(',')}}`
      : JSON.stringify(this.#cells);
    this.#sink.bytes(Buffer.from(record));
    this.#sink.endLine();
  }

  #valueJson(name: string, column: number): string {
    if (!this.#errors.has(column)) return cellJson(this.#cells[column]);
    this.nullTexts.set(name, (this.nullTexts.get(name) ?? 0) + 1);
    return 'null';
  }
}

function cellJson(text: string | undefined): string {
  return text === undefined || text === '' || text === '\\N' ? 'null' : JSON.stringify(text);
}
