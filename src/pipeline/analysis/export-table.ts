import type { DuckDBConnection } from '@duckdb/node-api';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { UsageError } from '../../kit/errors/errors.ts';
import { identifier, quoted } from '../../kit/text/sql-text.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { writeCsv } from './answer-formats.ts';
import { askSnapshot } from './query.ts';

export const exportFormats = ['parquet', 'csv'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/**
 * Copies a whole table or view to a file; for a spreadsheet as `sql` prints CSV. Resolves to the number of rows. Throws
 * `UsageError` with the names of the tables for an unknown one.
 */
export async function exportTable(
  connection: DuckDBConnection,
  table: string,
  file: string,
  format: ExportFormat | 'spreadsheet',
): Promise<number> {
  const tables = await queryRows<{ name: string }>(
    connection,
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY name`,
  );
  if (!tables.some(({ name }) => name === table)) {
    throw new UsageError(`the snapshot has no table "${table}"; it has ${tables.map(({ name }) => name).join(', ')}`);
  }
  if (format === 'spreadsheet') {
    const answer = await askSnapshot(connection, `FROM ${identifier(table)}`);
    const descriptor = openSync(file, 'w');
    try {
      return await writeCsv(answer, (text) => writeFileSync(descriptor, text), 'spreadsheet');
    } finally {
      closeSync(descriptor);
    }
  }
  // Times have their zone, so that the file could land again.
  const options =
    format === 'csv'
      ? `FORMAT csv, HEADER, TIMESTAMPFORMAT '%Y-%m-%dT%H:%M:%S.%fZ'`
      : 'FORMAT parquet, COMPRESSION zstd';
  const { rowsChanged } = await connection.run(`COPY (FROM ${identifier(table)}) TO ${quoted(file)} (${options})`);
  return rowsChanged;
}
