import type { DuckDBConnection } from '@duckdb/node-api';
import { UsageError } from '../errors/errors.ts';
import { identifier, quoted } from '../text/sql-text.ts';
import { queryRows } from '../duckdb/dialect/rows.ts';

export const exportFormats = ['parquet', 'csv'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/**
 * Copies a whole table or view to a file. Resolves to the rows written. Throws `UsageError` naming the tables there
 * are.
 */
export async function exportTable(
  connection: DuckDBConnection,
  table: string,
  file: string,
  format: ExportFormat,
): Promise<number> {
  const tables = await queryRows<{ name: string }>(
    connection,
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY name`,
  );
  if (!tables.some(({ name }) => name === table)) {
    throw new UsageError(`the snapshot has no table "${table}"; it has ${tables.map(({ name }) => name).join(', ')}`);
  }
  // Times as they may land: with their zone.
  const options =
    format === 'csv'
      ? `FORMAT csv, HEADER, TIMESTAMPFORMAT '%Y-%m-%dT%H:%M:%S.%fZ'`
      : 'FORMAT parquet, COMPRESSION zstd';
  const { rowsChanged } = await connection.run(`COPY (FROM ${identifier(table)}) TO ${quoted(file)} (${options})`);
  return rowsChanged;
}
