/**
 * A string as a SQL literal. For names, paths and what we made ourselves; what others wrote travels as parameters, or
 * as a literal where a query is shown with its values. DuckDB takes a statement for ended where a NUL stands in it.
 */
export function quoted(text: string): string {
  const literals = text.split('\0').map((part) => `'${part.replaceAll("'", "''")}'`);
  return literals.length === 1 ? (literals[0] as string) : `(${literals.join(' || chr(0) || ')})`;
}

/**
 * A path as DuckDB's file readers take it: they would read `[`, `*` and `?` in a name as a pattern. In a pattern a
 * backslash parts folders as `/` does, also within brackets, so there it stands as the one between `[` and `]`.
 */
export function literalPath(path: string): string {
  return /[[*?]/.test(path)
    ? path.replaceAll(/[[*?\\]/g, (character) => (character === '\\' ? '[[-]]' : `[${character}]`))
    : path;
}

/** The path that `literalPath` was given. */
export function pathOfLiteral(literal: string): string {
  return literal.replaceAll(/\[(\[-\]|[[*?])\]/g, (_escaped, character: string) =>
    character === '[-]' ? '\\' : character,
  );
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

/** SQL of a decimal as its shortest text: 1.500000 → 1.5 */
export function shortestDecimal(decimal: string): string {
  return `rtrim(rtrim(${decimal}::VARCHAR, '0'), '.')`;
}
