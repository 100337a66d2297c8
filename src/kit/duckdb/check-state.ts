import type { DuckDBConnection } from '@duckdb/node-api';
import { identifier } from '../text/sql-text.ts';
import { queryRows } from './dialect/rows.ts';
import { readOnly, withDuckDB } from './open.ts';

/**
 * Reads every value of every table, which checks every block's checksum. Throws DuckDB's error about the first one that
 * fails.
 */
export async function readWholeState(connection: DuckDBConnection): Promise<void> {
  const tables = await queryRows<{ name: string }>(
    connection,
    `SELECT table_name AS name FROM duckdb_tables() WHERE NOT temporary AND database_name = current_database() ORDER BY name`,
  );
  const readings = tables.map(({ name }) => `SELECT sum(hash(t)) FROM ${identifier(name)} AS t`);
  if (readings.length > 0) await connection.run(readings.join(';\n'));
}

/** Reads the whole of a database that nobody writes to. What is wrong with it, if anything. */
export async function damageOfDatabase(path: string): Promise<Error | undefined> {
  try {
    await withDuckDB(path, readOnly, readWholeState);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
