import type { DuckDBConnection } from '@duckdb/node-api';
import { matchNames } from '../../../kit/intake/reading/header-names.ts';
import { partitionsOf } from './hive-partitions.ts';
import { identifier, quoted, quotedPath } from '../../../kit/text/sql-text.ts';

/** Columns that a file may have. */
export interface KnownColumns {
  /** Columns without which a file with a header is not what its folder says. */
  required: readonly string[];
  /** Columns that are read; of others it is only said that they are there. */
  fields: readonly { name: string }[];
  /** Of several columns that may be a field the one with its very name is. */
  exactFirst?: boolean | undefined;
}

interface ParquetColumn {
  /** Name in the file. */
  written: string;
  /** Name in DuckDB's relation, which has no two that are equal but for case. */
  name: string;
  type: string;
  /** Name in the record. */
  as: string;
}

/** A column that is the same for all rows, by the name of a folder. */
export type Partition = ReturnType<typeof partitionsOf>[number];

/** Many writers do not mark their strings as UTF-8: without this they would be bytes, and `ë` written as `\xC3\xAB`. */
export function parquetRows(path: string, bytesAreText = true): string {
  return `read_parquet(${quotedPath(path)}, hive_partitioning = false, binary_as_string = ${bytesAreText})`;
}

/** `known`: names that the file may spell differently. */
export async function parquetColumns(
  connection: DuckDBConnection,
  path: string,
  known: KnownColumns,
  bytesAreText = true,
): Promise<ParquetColumn[]> {
  const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${parquetRows(path, bytesAreText)}`);
  const columns = described.getRows().map(([name, type]) => ({ name: String(name), type: String(type) }));
  const written = await writtenNames(connection, path);
  const names = matchNames(
    written,
    known.fields.map(({ name }) => name),
    known.exactFirst,
  );
  return columns.map((column, index) => ({
    ...column,
    written: written[index] as string,
    as: names[index] as string,
  }));
}

/** The names of columns as the file has them, without those of the members of nested ones. */
async function writtenNames(connection: DuckDBConnection, path: string): Promise<string[]> {
  const elements = await connection.runAndReadAll(
    `SELECT name, coalesce(num_children, 0)::INTEGER FROM parquet_schema(${quotedPath(path)})`,
  );
  const names: string[] = [];
  // Of each element, the schema itself first, how many of its members are to follow.
  const missing: number[] = [];
  for (const [name, children] of elements.getRows()) {
    if (missing.length === 1) names.push(String(name));
    missing.push(Number(children));
    while (missing.at(-1) === 0) {
      missing.pop();
      if (missing.length > 0) missing.push((missing.pop() as number) - 1);
    }
  }
  return names;
}

/** SQL of a record as JSON. Columns `leftOut` are named, but not read. */
export function asJsonRecord(
  columns: readonly ParquetColumn[],
  partitions: readonly Partition[],
  leftOut: ReadonlySet<string> = new Set(),
): string {
  const fields = [
    ...columns.map(
      ({ name, type, as }) => `${quoted(as)}, ${leftOut.has(name) ? 'NULL' : asJsonValue(identifier(name), type)}`,
    ),
    ...partitions.map(({ name, value }) => `${quoted(name)}, ${value === null ? 'NULL' : quoted(value)}`),
  ];
  return `json_object(${fields.join(', ')})::VARCHAR`;
}

/** Columns of bytes that nobody reads: a digest or a picture is no reason to refuse the columns beside it. */
export async function unreadBytes(
  connection: DuckDBConnection,
  path: string,
  known: KnownColumns,
): Promise<Set<string>> {
  const columns = await parquetColumns(connection, path, known, false);
  return new Set(
    columns
      .filter(({ as, type }) => /BLOB|GEOMETRY/.test(type) && !known.fields.some((field) => field.name === as))
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
