import type { DuckDBConnection } from '@duckdb/node-api';
import type { Insertable } from 'kysely';
import { insertRows, type RowShape } from '../../kit/duckdb/insert-rows.ts';
import type { Tables } from './tables.ts';

/**
 * Inserts rows into a table of the state by the names of their columns, as those of the first row are; rows of the
 * table with the same values of `replacing`, columns of text, go before. In the caller's transaction where that
 * matters.
 */
export async function insertInto<Name extends keyof Tables>(
  connection: DuckDBConnection,
  table: Name,
  rows: readonly Insertable<Tables[Name]>[],
  options: { replacing?: readonly (keyof Insertable<Tables[Name]> & string)[] } = {},
): Promise<void> {
  await insertRows(connection, table, textShape(rows), rows, options);
}

/** Rows travel as texts, which the table casts to the types of its columns. */
export function textShape<Row extends object>(rows: readonly Row[]): RowShape<Row> {
  const columns = Object.entries(rows[0] ?? {});
  // A bigint exceeds what a number of JSON holds.
  const types = columns.map(([name, value]) => [name, typeof value === 'bigint' ? 'BIGINT' : 'VARCHAR']);
  return Object.fromEntries(types) as RowShape<Row>;
}
