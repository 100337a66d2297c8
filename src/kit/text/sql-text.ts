import type { Day } from '../time/moment.ts';

/**
 * Writes a SQL literal, for names, paths and texts of our own; texts of others travel as parameters, or as literals
 * where a query is shown with its values. DuckDB ends a statement at a NUL.
 */
export function quoted(text: string): string {
  const literals = text.split('\0').map((part) => `'${part.replaceAll("'", "''")}'`);
  return literals.length === 1 ? (literals[0] as string) : `(${literals.join(' || chr(0) || ')})`;
}

/**
 * Escapes a path for DuckDB's file readers, which take `[`, `*` and `?` for a pattern. In a pattern a backslash
 * separates folders as `/` does, also within brackets, so it becomes a range between `[` and `]`.
 */
export function literalPath(path: string): string {
  return /[[*?]/.test(path)
    ? path.replaceAll(/[[*?\\]/g, (character) => (character === '\\' ? '[[-]]' : `[${character}]`))
    : path;
}

/** Escapes a path and writes it as a SQL literal. */
export function quotedPath(path: string): string {
  return quoted(literalPath(path));
}

/** Writes paths as a SQL list literal for DuckDB's file readers. */
export function quotedPathList(paths: readonly string[]): string {
  return `[${paths.map(quotedPath).join(', ')}]`;
}

/** Writes a SQL identifier. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Writes strings as a SQL list literal. */
export function quotedList(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(', ')}]`;
}

/** Writes at least one day as SQL dates for `IN (…)` or a list. */
export function sqlDates(days: readonly Day[]): string {
  return days.map((day) => `DATE '${day}'`).join(', ');
}

/** SQL of a decimal as its shortest text: 1.500000 → 1.5 */
export function shortestDecimal(decimal: string): string {
  return `rtrim(rtrim(${decimal}::VARCHAR, '0'), '.')`;
}

/** SQL of a timestamp as the text of a `Moment`. */
export function momentAsText(timestamp: string): string {
  return `replace(strftime(make_timestamp(epoch_us(${timestamp})), '%Y-%m-%dT%H:%M:%S.%fZ'), '.000000Z', 'Z')`;
}
