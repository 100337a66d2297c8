import { UsageError } from '../errors/errors.ts';

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

/** A row of a CSV file and its first line, from 1. */
export interface CsvRecord {
  line: number;
  cells: string[];
}

/**
 * Reads CSV of other programs: cells separated by comma, semicolon or tab (the most frequent in the first line), quoted
 * or not, any line end. Skips blank lines. Throws `UsageError` naming file and line.
 */
export function* csvRecords(text: string, file: string): Generator<CsvRecord> {
  const separator = separatorOf(text.slice(0, text.search(/[\r\n]|$/)));
  const plainCell = new RegExp(`[^${separator}\\r\\n]*`, 'y');
  const lineEnd = /\r\n|\r|\n/y;
  let line = 1;
  for (let at = 0; at < text.length;) {
    const record: CsvRecord = { line, cells: [] };
    for (;;) {
      if (text[at] === '"') {
        const end = closingQuote(text, at);
        if (end === -1) throw new UsageError(`${file} line ${line}: a quote is opened and never closed`);
        const quoted = text.slice(at + 1, end);
        record.cells.push(quoted.replaceAll('""', '"').trim());
        line += (quoted.match(/\r\n|\r|\n/g) ?? []).length;
        at = end + 1;
      } else {
        plainCell.lastIndex = at;
        const [plain = ''] = plainCell.exec(text) ?? [];
        record.cells.push(plain.trim());
        at += plain.length;
      }
      if (text[at] !== separator) break;
      at++;
    }
    lineEnd.lastIndex = at;
    const end = lineEnd.exec(text);
    if (end === null && at < text.length)
      throw new UsageError(
        `${file} line ${line}: there is text behind a closing quote; write quotes inside of a cell twice`,
      );
    at += end?.[0].length ?? 0;
    line++;
    if (record.cells.length > 1 || record.cells[0] !== '') yield record;
  }
}

/**
 * Returns the end of the cell whose quote opens at `start`; two quotes within it are one of its own. -1 where it has no
 * end.
 */
function closingQuote(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

function separatorOf(header: string): string {
  const count = (separator: string) => header.split(separator).length;
  return [',', ';', '\t'].toSorted((one, other) => count(other) - count(one))[0] as string;
}
