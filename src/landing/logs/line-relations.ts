import { longestLineBytes, type FileLines } from '../landing-file.ts';
import { quotedPathList } from '../../text/sql-text.ts';

/** Twice the longest line, or DuckDB takes sixteen times as much for every file that it has open. */
const readBuffer = `max_line_size = ${longestLineBytes}, buffer_size = ${2 * longestLineBytes}`;

/**
 * SQL for the lines of checked files: `path`, `raw`. Blank lines are NULL.
 * Columns are cut at a control character that a checked file does not hold, so a line stays whole.
 */
export function lines(paths: readonly string[]): string {
  return `read_csv(${quotedPathList(paths)}, columns = {raw: 'VARCHAR'}, delim = '\u0001\u0002', quote = '', escape = '',
    new_line = '\\n', strict_mode = false, auto_detect = false, header = false, hive_partitioning = false, ${readBuffer}, filename = 'path')`;
}

/**
 * SQL relations `(line, raw)` of all lines of a file with the numbers of their records, the long ones apart:
 * each is to be read by a statement of its own. Numbering forces file order and costs as much as the reading itself.
 */
export function numberedLines({ readablePath, firstRow, longLines }: FileLines): string[] {
  return [
    `(SELECT row_number() OVER () + ${firstRow - 1} AS line, raw FROM ${lines([readablePath])})`,
    ...longLines.map(numberedLongLines),
  ];
}

/** The same of long lines alone. */
export function numberedLongLines({ path, rows }: FileLines['longLines'][number]): string {
  return `(SELECT [${rows.join(', ')}][nth]::BIGINT AS line, raw FROM (SELECT row_number() OVER () AS nth, raw FROM ${lines([path])}))`;
}
