import type { ColumnValue, Row } from '../../duckdb/dialect/rows.ts';
import { csvRow } from '../../text/csv.ts';

/**
 * Columns of rows as CSV. A text that a spreadsheet would take for a formula gets an apostrophe in front: advertisers
 * write titles, and who opens the file must not run them. Signs of full width count as theirs do. Numbers stay as they
 * are.
 */
export function csvOf(columns: readonly string[], rows: readonly Row[]): string {
  return csvRow(columns) + rows.map((row) => csvRow(columns.map((column) => disarmed(row[column] ?? null)))).join('');
}

function disarmed(value: ColumnValue): ColumnValue {
  if (typeof value !== 'string') return value;
  return /^[=+\-@＝＋－＠\t\r\n]/.test(value) && !/^-?\d+(\.\d+)?$/.test(value) ? `'${value}` : value;
}
