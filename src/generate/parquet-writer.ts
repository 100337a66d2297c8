import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { quoted, quotedPath } from '../text/sql-text.ts';

/** DuckDB types by column name. */
export type ParquetColumns = Record<string, string>;

/** Writes Parquet by way of DuckDB, in memory and on one thread: the same rows give the same bytes. */
export class ParquetWriter {
  #instance: DuckDBInstance | undefined;
  #connection: DuckDBConnection | undefined;

  /** Turns NDJSON into Parquet. Scalars are read as text and cast, so that decimals stay exact. */
  async convert(ndjsonPath: string, parquetPath: string, columns: ParquetColumns): Promise<void> {
    const connection = await this.#open();
    const read = Object.entries(columns).map(([name, type]) => `${name}: '${isNested(type) ? type : 'VARCHAR'}'`);
    const cast = Object.entries(columns).map(([name, type]) => `${name}::${type} AS ${name}`);
    await connection.run(
      `COPY (SELECT ${cast.join(', ')} FROM read_json(${quotedPath(ndjsonPath)}, format = 'newline_delimited', columns = {${read.join(', ')}}))
       TO ${quoted(parquetPath)} (FORMAT parquet, COMPRESSION zstd)`,
    );
  }

  close(): void {
    this.#connection?.closeSync();
    this.#instance?.closeSync();
    this.#connection = undefined;
    this.#instance = undefined;
  }

  async #open(): Promise<DuckDBConnection> {
    if (this.#connection) return this.#connection;
    this.#instance = await DuckDBInstance.create(':memory:', { threads: '1' });
    this.#connection = await this.#instance.connect();
    await this.#connection.run(`SET TimeZone = 'UTC'`);
    return this.#connection;
  }
}

function isNested(type: string): boolean {
  return type.includes('[') || type.includes('STRUCT');
}
