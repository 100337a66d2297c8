import type { DuckDBConnection } from '@duckdb/node-api';
import { identifier, quoted, quotedPath } from '../../../kit/text/sql-text.ts';

/** Columns that a file may have. */
export interface KnownColumns {
  /** Columns without which a file with a header is not what its folder says. */
  required: readonly string[];
  /** Columns that are read; of others it is only said that they are there. */
  fields: readonly { name: string }[];
}

interface ParquetColumn {
  name: string;
  type: string;
}

/** Many writers do not mark their strings as UTF-8: without this they would be bytes, and `ë` written as `\xC3\xAB`. */
export function parquetRows(path: string, bytesAreText = true): string {
  return `read_parquet(${quotedPath(path)}, hive_partitioning = false, binary_as_string = ${bytesAreText})`;
}

export async function parquetColumns(connection: DuckDBConnection, rows: string): Promise<ParquetColumn[]> {
  const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${rows}`);
  return described.getRows().map(([name, type]) => ({ name: String(name), type: String(type) }));
}

/** SQL of a record as JSON. Columns `leftOut` are named, but not read. */
export function asJsonRecord(columns: readonly ParquetColumn[], leftOut: ReadonlySet<string> = new Set()): string {
  const fields = columns.map(
    ({ name, type }) => `${quoted(name)}, ${leftOut.has(name) ? 'NULL' : asJsonValue(identifier(name), type)}`,
  );
  return `json_object(${fields.join(', ')})::VARCHAR`;
}

/** Columns of bytes that nobody reads: a digest or a picture is no reason to refuse the columns beside it. */
export async function unreadBytes(
  connection: DuckDBConnection,
  path: string,
  { fields }: KnownColumns,
): Promise<Set<string>> {
  const columns = await parquetColumns(connection, parquetRows(path, false));
  return new Set(
    columns
      .filter(({ name, type }) => type.includes('BLOB') && !fields.some((field) => field.name === name))
      .map(({ name }) => name),
  );
}

/** Numbers as text so that no digit is lost on the way; nested values as they are; a zone only where there is one. */
function asJsonValue(column: string, type: string): string {
  if (type === 'TIMESTAMP WITH TIME ZONE') return `strftime(timezone('UTC', ${column}), '%Y-%m-%dT%H:%M:%S.%fZ')`;
  if (type.startsWith('TIMESTAMP')) return `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%f')`;
  if (/\[|STRUCT|MAP|JSON|BOOLEAN/.test(type)) return `to_json(${column})`;
  if (type === 'DOUBLE') return asJsonNumber(column, 2 ** 53);
  if (type === 'FLOAT') return asJsonNumber(column, 2 ** 24);
  // 101.00 is 101, whatever scale its column has.
  if (/^DECIMAL\(\d+,[1-9]/.test(type)) return `regexp_replace(${column}::VARCHAR, '\\.?0+$', '')`;
  return `${column}::VARCHAR`;
}

/**
 * Writers that know no absent integer make floating point of a column of ids: `101.0` is 101. From `exactBelow` on
 * several integers are the same number, so nobody can know which one was meant. What is no such id stays a number,
 * which an amount may be and a name not; what is no number at all is neither.
 */
function asJsonNumber(column: string, exactBelow: number): string {
  return `CASE WHEN ${column} = trunc(${column}) AND abs(${column}) < ${exactBelow} THEN to_json(${column}::BIGINT::VARCHAR)
    WHEN isfinite(${column}) THEN ${column}::VARCHAR::JSON WHEN ${column} IS NOT NULL THEN to_json([${column}::VARCHAR]) END`;
}
