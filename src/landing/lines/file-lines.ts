import type { DuckDBConnection } from '@duckdb/node-api';
import type { CheckedFile } from '../landing-file.ts';
import { assertColumns, unfoldParquet } from './parquet-lines.ts';

/**
 * Gives a checked file with its lines known: makes lines of what only DuckDB can read, Parquet, beside `scratchPath`, and
 * looks for the columns without which a file with a header is not what its folder says. To be called outside of a
 * transaction: a statement that fails would abort it, and with it all other files. Throws `QuarantineError`.
 */
export async function fileLines(
  connection: DuckDBConnection,
  file: CheckedFile,
  required: readonly string[],
  scratchPath: string,
  unpackedLimit: number,
): Promise<CheckedFile> {
  if (file.format === 'parquet' && file.bytes > 0)
    return unfoldParquet(connection, file, required, scratchPath, unpackedLimit);
  if (file.columns !== null) assertColumns(file.columns, required);
  return file;
}
