import type { DuckDBConnection } from '@duckdb/node-api';
import { identifier } from '../text/sql-text.ts';
import { queryRows } from './dialect/rows.ts';
import { readOnly, withDuckDB } from './open.ts';

/**
 * Reads every value of every table, and so checks every block's checksum. Throws DuckDB's error of the first failure.
 */
export async function readWholeDatabase(connection: DuckDBConnection): Promise<void> {
  const tables = await queryRows<{ name: string }>(
    connection,
    `SELECT table_name AS name FROM duckdb_tables() WHERE NOT temporary AND database_name = current_database() ORDER BY name`,
  );
  const readings = tables.map(({ name }) => `SELECT sum(hash(t)) FROM ${identifier(name)} AS t`);
  if (readings.length > 0) await connection.run(readings.join(';\n'));
}

/** Reads a database that nobody writes to. Returns the error where it is damaged. */
export async function findDatabaseDamage(path: string): Promise<Error | undefined> {
  try {
    await withDuckDB(path, readOnly, readWholeDatabase);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
