import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { countRows, makeTempTable } from '../../kit/duckdb/temp-table.ts';
import { identifier } from '../../kit/text/sql-text.ts';

/** Fewer deleted rows take no time that anybody notices. */
const manyDeletedRows = 1_000;

/**
 * Writes tables with a key again that have more deleted rows than others: DuckDB keeps the deleted rows of such a table
 * for good, and each checkpoint takes longer by them. In the caller's transaction. Returns their names.
 */
export async function rewriteWornTables(connection: DuckDBConnection): Promise<string[]> {
  // The size that DuckDB estimates counts deleted rows, too.
  const tables = await queryRows<{ name: string; sql: string; stored: number }>(
    connection,
    `SELECT table_name AS name, sql, estimated_size AS stored FROM duckdb_tables()
     WHERE database_name = current_catalog() AND NOT temporary AND has_primary_key ORDER BY name`,
  );
  const worn: string[] = [];
  for (const { name, sql, stored } of tables) {
    const live = await countRows(connection, identifier(name));
    if (stored - live < Math.max(manyDeletedRows, live)) continue;
    const kept = await makeTempTable(connection, 'kept_rows', `FROM ${identifier(name)}`);
    await connection.run(
      `DROP TABLE ${identifier(name)}; ${sql} INSERT INTO ${identifier(name)} FROM ${kept}; DROP TABLE ${kept}`,
    );
    worn.push(name);
  }
  return worn;
}
