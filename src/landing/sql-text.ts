/** A string as a SQL literal. For names and paths only: values travel as parameters wherever DuckDB lets them. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A string as a SQL identifier. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Strings as a SQL list literal. */
export function quotedList(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(', ')}]`;
}
