import accessors from '@duckdb/node-api/lib/vectors/dataAccessors.js';

/**
 * Replaces the decoder by which DuckDB's client reads all texts. Its own drops a U+FEFF at the beginning of a text as a
 * byte order mark, and a user whose id begins with one would become another user.
 */
export function keepByteOrderMarks(): void {
  if (!accessors.textDecoder.ignoreBOM)
    Object.assign(accessors, { textDecoder: new TextDecoder('utf-8', { ignoreBOM: true }) });
}
