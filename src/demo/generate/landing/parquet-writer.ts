import { inMemory, openDuckDB, type OpenDuckDB } from '../../../kit/duckdb/open.ts';
import { quoted, quotedPath } from '../../../kit/text/sql-text.ts';

/** DuckDB types by column name. */
export type ParquetColumns = Record<string, string>;

/** Writes Parquet by way of DuckDB, in memory and on one thread: the same rows give the same bytes. */
export class ParquetWriter {
  #database: OpenDuckDB | undefined;

  /** Turns NDJSON into Parquet. Scalars are read as text and cast, so that decimals stay exact. */
  async convert(ndjsonPath: string, parquetPath: string, columns: ParquetColumns): Promise<void> {
    const { connection } = (this.#database ??= await openDuckDB(inMemory, { threads: '1' }));
    const read = Object.entries(columns).map(([name, type]) => `${name}: '${isNested(type) ? type : 'VARCHAR'}'`);
    const cast = Object.entries(columns).map(([name, type]) => `${name}::${type} AS ${name}`);
    await connection.run(
      `COPY (SELECT ${cast.join(', ')} FROM read_json(${quotedPath(ndjsonPath)}, format = 'newline_delimited', columns = {${read.join(', ')}}))
       TO ${quoted(parquetPath)} (FORMAT parquet, COMPRESSION zstd)`,
    );
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
  }
}

function isNested(type: string): boolean {
  return type.includes('[') || type.includes('STRUCT');
}
