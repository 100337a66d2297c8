/** Records as lines of CSV under a fixed header; an absent value is an empty cell, a list is `a|b|c`, anything nested JSON text. */
export function csvLine(columns: readonly string[], record: object): string {
  const values = record as Record<string, unknown>;
  return csvRow(columns.map((column) => values[column]));
}

/** The same of values in the order of their columns. */
export function csvRow(values: readonly unknown[]): string {
  return `${values.map(csvCell).join(',')}\n`;
}

function csvCell(value: unknown): string {
  const text = cellText(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function cellText(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value) && value.every((element) => typeof element === 'string')) return value.join('|');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
