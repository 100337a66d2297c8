import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { dropTempTables, makeTempTable } from '../../kit/duckdb/temp-table.ts';
import { identifier, quoted } from '../../kit/text/sql-text.ts';

/** Fewer deleted rows take no time that anybody notices. */
const manyDeletedRows = 1_000;

/**
 * Writes tables with a key again that have more deleted rows than others: DuckDB keeps the deleted rows of such a table
 * for good, and each checkpoint takes longer by them. In the caller's transaction. Returns their names.
 */
export async function rewriteWornTables(connection: DuckDBConnection): Promise<string[]> {
  const tables = await queryRows<{ name: string; sql: string }>(
    connection,
    `SELECT table_name AS name, sql FROM duckdb_tables()
     WHERE database_name = current_catalog() AND NOT temporary AND has_primary_key ORDER BY name`,
  );
  const worn: string[] = [];
  for (const { name, sql } of tables) {
    const [counted] = await queryRows<{ live: number; stored: number }>(
      connection,
      `SELECT (SELECT count(*) FROM ${identifier(name)}) AS live, coalesce(sum(count), 0)::BIGINT AS stored
       FROM pragma_storage_info(${quoted(name)}) WHERE column_id = 0 AND segment_type <> 'VALIDITY'`,
    );
    if (counted === undefined || counted.stored - counted.live < Math.max(manyDeletedRows, counted.live)) continue;
    const kept = await makeTempTable(connection, 'kept_rows', `FROM ${identifier(name)}`);
    await connection.run(`DROP TABLE ${identifier(name)}; ${sql} INSERT INTO ${identifier(name)} FROM ${kept}`);
    worn.push(name);
  }
  if (worn.length > 0) await dropTempTables(connection);
  return worn;
}
