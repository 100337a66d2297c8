import accessors from '@duckdb/node-api/lib/vectors/dataAccessors.js';

/**
 * DuckDB's client decodes each text as if it were a file: a U+FEFF at its beginning is taken for a byte order mark and
 * dropped. A user whose id begins so would become another one. All reads come by this one decoder.
 */
export function keepTextsWhole(): void {
  if (!accessors.textDecoder.ignoreBOM)
    Object.assign(accessors, { textDecoder: new TextDecoder('utf-8', { ignoreBOM: true }) });
}
