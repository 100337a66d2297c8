import type { QueryRow } from '../../kit/duckdb/dialect/rows.ts';
import { csvLine, csvRow } from '../../kit/text/csv.ts';

/** Columns of rows as CSV. People open what the console gives them in a spreadsheet. */
export function csvOf(columns: readonly string[], rows: readonly QueryRow[]): string {
  return csvRow(columns) + rows.map((row) => csvLine(columns, row, 'spreadsheet')).join('');
}
