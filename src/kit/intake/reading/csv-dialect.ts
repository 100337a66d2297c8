import { CsvRecords } from './csv-records.ts';
import type { FormatSettings } from './format-settings.ts';
import { HeaderSearch, type ScoreHeader } from './header-search.ts';
import { RecordList } from './record-sink.ts';

/** Dialect of CSV: what cuts a text into cells, and the place of its header row. */
export interface CsvDialect {
  /** The byte between cells. */
  delimiter: number;
  /** Characters before the header row, as the text is decoded, and the rows in them. */
  before: string;
  rowsBefore: number;
  linesBefore: number;
  /** Number of the row that was found to be the header below others, as `FormatSettings` count. */
  headerRow: number | undefined;
  header: readonly string[] | undefined;
  /** The text ends before its header row, or that is not near its beginning. */
  headerIsMissing: boolean;
}

/** Delimiters, in the order in which they are taken where a header has as many of two. */
const delimiters = [',', ';', '\t', '|'];

/**
 * Recognizes a dialect of CSV by how a text begins: its delimiter by the header row, or by a line `sep=;` before it, as
 * Excel writes. Blank lines before the header are none of its rows. With `score` the header may be below others.
 */
export function recognizeDialect(
  text: string,
  isWhole: boolean,
  settings: FormatSettings,
  score?: ScoreHeader,
): CsvDialect {
  const walk = new Lines(text);
  let rowsBefore = 0;
  let separator: string | undefined;
  const mark = /^sep=([^\r\n])(?=[\r\n]|$)/i.exec(text);
  if (mark !== null) {
    separator = mark[1];
    walk.next();
  }
  const start = walk.at;
  const { skip = 0, header = 1 } = settings;
  if (typeof skip === 'number') {
    for (; rowsBefore < skip && !walk.isEnd; rowsBefore++) walk.next();
  } else {
    for (; !walk.isEnd && (isBlank(walk.line()) || walk.line().startsWith(skip)); rowsBefore += 1) walk.next();
  }
  if (typeof header === 'number' && header > 1) {
    for (let row = 1; row < header && !walk.isEnd; row++, rowsBefore++) walk.next();
  }
  const givenDelimiter = settings.delimiter ?? separator;
  const headerRow =
    score === undefined || settings.header !== undefined
      ? undefined
      : headerBelow(new Lines(text, walk.at), score, givenDelimiter);
  for (let row = 1; row < (headerRow ?? 1); row++, rowsBefore++) walk.next();
  const shown = new Lines(text, walk.at);
  while (!shown.isEnd && isBlank(shown.line())) shown.next();
  const delimiter = givenDelimiter ?? mostFrequent(rowAt(shown));
  return {
    delimiter: delimiter.charCodeAt(0),
    before: text.slice(0, walk.at),
    rowsBefore,
    linesBefore: walk.number - 1,
    headerRow,
    header: typeof header === 'number' ? undefined : header,
    headerIsMissing: isWhole
      ? typeof header === 'number' && isBlank(text.slice(walk.at)) && !isBlank(text.slice(start, walk.at))
      : walk.isEnd,
  };
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** Returns the line, from 1, at which the likeliest header begins; undefined where that is the first row. */
function headerBelow(lines: Lines, score: ScoreHeader, given: string | undefined): number | undefined {
  const search = new HeaderSearch(score);
  for (; !lines.isEnd && !search.isOver; lines.next()) {
    const { number } = lines;
    const row = rowAt(lines);
    if (!isBlank(row)) search.see(number, cellsOf(row, given ?? mostFrequent(row)));
  }
  return search.rowBelow;
}

/** Returns the names in a row; none where it could not be a header. */
function cellsOf(row: string, delimiter: string): readonly string[] {
  const taker = new CsvRecords(new RecordList(0), { delimiter: delimiter.charCodeAt(0) });
  taker.take(Buffer.from(`${row}\n`));
  return taker.columns ?? [];
}

/**
 * Returns the row at a line, and leaves the walk at its last line: names of columns in quotes may have line breaks, as
 * spreadsheets write them.
 */
function rowAt(lines: Lines): string {
  const first = lines.line();
  const { at, number } = lines;
  const row = [first];
  for (let isOpen = opensQuote(first); isOpen; isOpen = !hasOddQuotes(lines.line())) {
    lines.next();
    // A quote that nothing closes is none.
    if (lines.isEnd) {
      lines.at = at;
      lines.number = number;
      return first;
    }
    row.push(lines.line());
  }
  return row.join('\n');
}

/**
 * Returns whether a line ends within quotes, whatever its delimiter is. A quote within a cell that does not begin with
 * one is none: `15" laptop`.
 */
function opensQuote(line: string): boolean {
  return /(?:^|[^\p{L}\p{N}" ]) *"(?:[^"]|"")*$/u.test(line);
}

function hasOddQuotes(line: string): boolean {
  return line.split('"').length % 2 === 0;
}

/** Returns the delimiter that a row has most of outside of quotes; a comma where it has none. */
function mostFrequent(row: string): string {
  const bare = row.replaceAll(/"(?:[^"]|"")*"?/g, '');
  const count = (delimiter: string) => bare.split(delimiter).length;
  return delimiters.toSorted((one, other) => count(other) - count(one))[0] as string;
}

/** Walks through the lines of a text. */
class Lines {
  at: number;
  /** Number of the line, from 1 where the walk began. */
  number = 1;
  readonly #text: string;

  constructor(text: string, at = 0) {
    this.#text = text;
    this.at = at;
  }

  get isEnd(): boolean {
    return this.at >= this.#text.length;
  }

  line(): string {
    return this.#text.slice(this.at, this.#end());
  }

  next(): void {
    const end = this.#end();
    this.at = end + (this.#text.startsWith('\r\n', end) ? 2 : end < this.#text.length ? 1 : 0);
    this.number++;
  }

  #end(): number {
    const lineEnd = /[\r\n]/g;
    lineEnd.lastIndex = this.at;
    return lineEnd.exec(this.#text)?.index ?? this.#text.length;
  }
}
