/** Reader of a CSV: a program takes each text as it is, a spreadsheet takes some for formulas. */
export type CsvReader = 'program' | 'spreadsheet';

/**
 * Writes a record as a line of CSV under a fixed header; an absent value is an empty cell, a list is `a|b|c`, anything
 * nested JSON text.
 */
export function csvLine(columns: readonly string[], record: object, reader: CsvReader = 'program'): string {
  const values = record as Record<string, unknown>;
  return csvRow(
    columns.map((column) => values[column]),
    reader,
  );
}

/** Writes values, in the order of their columns, as a line. */
export function csvRow(values: readonly unknown[], reader: CsvReader = 'program'): string {
  return `${values.map((value) => csvCell(value, reader)).join(',')}\n`;
}

function csvCell(value: unknown, reader: CsvReader): string {
  const text = reader === 'spreadsheet' && typeof value !== 'number' ? disarmed(cellText(value)) : cellText(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Puts an apostrophe before a text that a spreadsheet would take for a formula: advertisers and users write texts, and
 * opening the file must not run them. Signs of full width count as formulas too. Numbers stay as they are.
 */
function disarmed(text: string): string {
  return /^[=+\-@＝＋－＠\t\r\n]/.test(text) && !/^-?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value) && value.every((element) => typeof element === 'string')) return value.join('|');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
