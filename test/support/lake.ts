import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { queryRows, type QueryRow } from '../../src/kit/duckdb/dialect/rows.ts';
import { inMemory, withDuckDB } from '../../src/kit/duckdb/open.ts';

/** Asks the catalog of the lake, attached as `lake`, as the ordinary tables that it is. */
export function askCatalog<Row = QueryRow>({ lakeFile }: DataDirectory, sql: string): Promise<Row[]> {
  return withDuckDB(inMemory, {}, async (connection) => {
    await connection.run(`ATTACH '${lakeFile}' AS lake (READ_ONLY); USE lake`);
    return queryRows<Row>(connection, sql);
  });
}

/** Files that the lake names and that are not there as it says; none where there is no lake. */
export async function missingFiles(data: DataDirectory): Promise<string[]> {
  if (!existsSync(data.lakeFile)) return [];
  const named = await askCatalog<{ path: string; bytes: number }>(
    data,
    'SELECT path, file_size_bytes AS bytes FROM ducklake_data_file ORDER BY path',
  );
  return named
    .filter(({ path, bytes }) => statSync(join(data.published, path), { throwIfNoEntry: false })?.size !== bytes)
    .map(({ path }) => path);
}
