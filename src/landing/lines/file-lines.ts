import type { DuckDBConnection } from '@duckdb/node-api';
import { rm } from 'node:fs/promises';
import { type CheckedFile, maxLineBytes, longLineBytes, QuarantineError } from '../landing-file.ts';
import { setLongLinesApart } from './long-lines.ts';
import { readThrough } from '../../files/read-through.ts';
import { identifier, quoted, quotedPath } from '../../text/sql-text.ts';
import { TextCheck } from './text-check.ts';

/**
 * Gives a checked file with its lines known: makes lines of what only DuckDB can read, Parquet, beside `scratchPath`,
 * and looks for the columns without which a file with a header is not what its folder says. To be called outside of a
 * transaction: a statement that fails would abort it, and with it all other files. Throws `QuarantineError`.
 */
export async function fileLines(
  connection: DuckDBConnection,
  file: CheckedFile,
  required: readonly string[],
  scratchPath: string,
  maxUnpackedBytes: number,
): Promise<CheckedFile> {
  if (file.format === 'parquet' && file.bytes > 0)
    return unfoldParquet(connection, file, required, scratchPath, maxUnpackedBytes);
  if (file.columns !== null) assertColumns(file.columns, required);
  return file;
}

const tooLarge = 'records of more bytes than are allowed';

/**
 * Writes a Parquet file's records beside `scratchPath` as JSON, one a line, and gives the file with its lines known.
 * Throws `QuarantineError` where it cannot be read whole.
 */
async function unfoldParquet(
  connection: DuckDBConnection,
  file: CheckedFile,
  required: readonly string[],
  scratchPath: string,
  maxUnpackedBytes: number,
): Promise<CheckedFile> {
  const parquet = `read_parquet(${quotedPath(file.readablePath)}, hive_partitioning = false)`;
  const readablePath = `${scratchPath}.ndjson`;
  let columns: { name: string; type: string }[];
  try {
    const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${parquet}`);
    columns = described.getRows().map(([name, type]) => ({ name: String(name), type: String(type) }));
    assertColumns(
      columns.map(({ name }) => name),
      required,
    );
    const fields = columns.map(({ name, type }) => `${quoted(name)}, ${asJsonValue(identifier(name), type)}`);
    // A few bytes may stand for any number of equal values, so the bytes are counted while they are written.
    await connection.run(
      `COPY (
         SELECT CASE WHEN sum(strlen(raw) + 1) OVER (ROWS UNBOUNDED PRECEDING) > ${maxUnpackedBytes} THEN error('${tooLarge}') ELSE raw END
         FROM (SELECT json_object(${fields.join(', ')})::VARCHAR AS raw FROM ${parquet})
       ) TO ${quoted(readablePath)} (FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\u0001')`,
    );
  } catch (error) {
    await rm(readablePath, { force: true });
    throw unreadable(error as Error, file, maxUnpackedBytes);
  }
  const unfolded: CheckedFile = { ...file, readablePath, columns: columns.map(({ name }) => name) };
  const text = new TextCheck('ndjson');
  await readThrough(readablePath, (chunk) => text.see(chunk));
  if (text.longestLine > maxLineBytes)
    throw new QuarantineError(
      'line_too_long',
      `a record has ${text.longestLine} bytes; at most ${maxLineBytes} are read`,
    );
  if (file.kind === 'offers' || text.longestLine <= longLineBytes) return unfolded;
  const apart = await setLongLinesApart(unfolded, scratchPath);
  await rm(readablePath);
  return { ...unfolded, ...apart };
}

function assertColumns(names: readonly string[], required: readonly string[]): void {
  const missing = required.filter((name) => !names.includes(name));
  if (missing.length > 0) throw new QuarantineError('missing_column', `there is no column ${missing.join(', ')}`);
}

/** DuckDB's error, with the name that we use for the file instead of where it lies on this machine. */
function unreadable(error: Error, file: CheckedFile, maxUnpackedBytes: number): QuarantineError {
  if (error instanceof QuarantineError) return error;
  const { message } = error;
  if (message.includes(tooLarge))
    return new QuarantineError(
      'unpacked_too_large',
      `its records take more than ${maxUnpackedBytes} bytes: land it in parts; unpacked_gigabytes in offerline.json is the limit for files to come`,
    );
  return new QuarantineError('not_parquet', (message.split('\n')[0] ?? '').replaceAll(file.readablePath, file.path));
}

/**
 * Numbers as text so that no digit is lost on the way; nested values as they are; a zone is written only where there is
 * one.
 */
function asJsonValue(column: string, type: string): string {
  if (type === 'TIMESTAMP WITH TIME ZONE') return `strftime(timezone('UTC', ${column}), '%Y-%m-%dT%H:%M:%S.%fZ')`;
  if (type.startsWith('TIMESTAMP')) return `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%f')`;
  if (/\[|STRUCT|MAP|JSON|BOOLEAN/.test(type)) return `to_json(${column})`;
  return `${column}::VARCHAR`;
}
