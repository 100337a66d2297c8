/** A string as a SQL literal. For names, paths and what we made ourselves; what others wrote travels as parameters. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A path as DuckDB's file readers take it: they would read `[`, `*` and `?` in a name as a pattern. */
export function literalPath(path: string): string {
  return path.replaceAll(/[[*?]/g, '[$&]');
}

/** The same as a SQL literal. */
export function quotedPath(path: string): string {
  return quoted(literalPath(path));
}

/** Paths as a SQL list literal for DuckDB's file readers. */
export function quotedPathList(paths: readonly string[]): string {
  return `[${paths.map(quotedPath).join(', ')}]`;
}

/** A string as a SQL identifier. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Strings as a SQL list literal. */
export function quotedList(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(', ')}]`;
}
