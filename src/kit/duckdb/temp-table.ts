import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from './dialect/rows.ts';

declare const made: unique symbol;

/**
 * The name of a temporary table or view that one function has created for others. Only these functions return one, so a
 * function that takes it as a parameter cannot run before its maker; `Name` keeps the types of such tables apart.
 */
export type TempTable<Name extends string> = Name & { readonly [made]: true };

/** Makes the table from a query. One of that name that was there is replaced. */
export async function makeTempTable<Name extends string>(
  connection: DuckDBConnection,
  name: Name,
  query: string,
): Promise<TempTable<Name>> {
  await connection.run(`CREATE OR REPLACE TEMP TABLE ${name} AS ${query}`);
  return name as TempTable<Name>;
}

/** Creates a view in the same way: the query runs each time that it is read. */
export async function makeTempView<Name extends string>(
  connection: DuckDBConnection,
  name: Name,
  query: string,
): Promise<TempTable<Name>> {
  await connection.run(`CREATE OR REPLACE TEMP VIEW ${name} AS ${query}`);
  return name as TempTable<Name>;
}

/** Creates an empty table with these columns and their types. */
export async function makeEmptyTempTable<Name extends string>(
  connection: DuckDBConnection,
  name: Name,
  columns: string,
): Promise<TempTable<Name>> {
  await connection.run(`CREATE OR REPLACE TEMP TABLE ${name} (${columns})`);
  return name as TempTable<Name>;
}

/** Counts the rows of a table or of any relation in SQL. */
export async function countRows(connection: DuckDBConnection, relation: string): Promise<number> {
  const [row] = await queryRows<{ rows: number }>(connection, `SELECT count(*) AS rows FROM ${relation}`);
  return row?.rows ?? 0;
}

/** Drops all temporary tables. Call it where no handle of one is used any more. */
export async function dropTempTables(connection: DuckDBConnection): Promise<void> {
  const tables = await queryRows<{ name: string }>(
    connection,
    'SELECT table_name AS name FROM duckdb_tables() WHERE temporary',
  );
  await connection.run(tables.map(({ name }) => `DROP TABLE ${name}`).join('; '));
}
