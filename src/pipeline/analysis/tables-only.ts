import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { UsageError } from '../../kit/errors/errors.ts';
import { identifier } from '../../kit/text/sql-text.ts';
import { readingQuery, readingStatement } from './reading-statement.ts';

/**
 * Prepares a connection for a query of the console's page, on which addresses, agents and rejected rows of logs are not
 * to be seen. Throws `UsageError` for what is no query of tables alone.
 */
export async function limitToTables(connection: DuckDBConnection, sql: string): Promise<void> {
  await hidePeople(connection);
  await assertTablesOnly(connection, await readingStatement(connection, sql, readingQuery));
}

/** Puts views without people's data before the tables that have it. A name without a catalog is of the former. */
async function hidePeople(connection: DuckDBConnection): Promise<void> {
  const [{ catalog } = { catalog: '' }] = await queryRows<{ catalog: string }>(
    connection,
    'SELECT current_database() AS catalog',
  );
  const of = (table: string) => `${identifier(catalog)}.main.${identifier(table)}`;
  await connection.run(`CREATE TEMP VIEW clicks AS SELECT * EXCLUDE (ip, user_agent) FROM ${of('clicks')}`);
  await connection.run(
    `CREATE TEMP VIEW rejects AS SELECT rejects.* REPLACE (CASE WHEN files.kind = 'offers' THEN rejects.raw END AS raw)
     FROM ${of('rejects')} AS rejects LEFT JOIN ${of('ingest_files')} AS files USING (file_id)`,
  );
}

/** DuckDB's functions that give rows, and read no files. */
const tableFunctions = new Set([
  'unnest',
  'range',
  'generate_series',
  'duckdb_tables',
  'duckdb_views',
  'duckdb_columns',
  'duckdb_functions',
]);

interface ParsedNode {
  type?: unknown;
  table_name?: string;
  schema_name?: string;
  catalog_name?: string;
  function?: { function_name?: string };
}

/** Throws `UsageError` where a query reads a file or names a catalog, behind which people's data is. */
async function assertTablesOnly(connection: DuckDBConnection, sql: string): Promise<void> {
  const result = await connection.runAndReadAll(
    'SELECT json_serialize_sql($1::VARCHAR, skip_null := true, skip_empty := true)',
    [sql],
  );
  const called: string[] = [];
  const parsed = JSON.parse(String(result.getRows()[0]?.[0]), (_key, node: ParsedNode | null) => {
    if (node?.type === 'BASE_TABLE') assertTable(node);
    if (node?.type === 'TABLE_FUNCTION') called.push(node.function?.function_name ?? '');
    return node;
  }) as { error_type?: string };
  // EXPLAIN has no such form; other errors are for the query itself to say.
  if (parsed.error_type === 'not implemented')
    throw new UsageError(`this page takes ${readingQuery}; \`offerline sql\` takes EXPLAIN, too`);
  const others = called.filter((name) => !tableFunctions.has(name.toLowerCase()));
  const published = others.length === 0 ? [] : await publishedFunctions(connection);
  const refused = others.find((name) => !published.includes(name.toLowerCase()));
  if (refused === undefined) return;
  const elsewhere = "`offerline sql` does, for the snapshot's own files";
  throw new UsageError(`this page does not call ${refused}: it may read files. ${elsewhere}`);
}

function assertTable({
  table_name: table = '',
  schema_name: schema = '',
  catalog_name: catalog = '',
}: ParsedNode): void {
  if (schema !== '' || catalog !== '')
    throw new UsageError(`name the table alone: "${table}", without a schema or catalog`);
  if (!/^\w+$/.test(table)) throw new UsageError(`"${table}" is no table of the snapshot: this page reads no files`);
}

/** Returns the names of the snapshot's own functions, which give rows of its files alone. */
async function publishedFunctions(connection: DuckDBConnection): Promise<string[]> {
  const rows = await queryRows<{ name: string }>(
    connection,
    `SELECT function_name AS name FROM duckdb_functions() WHERE function_type = 'table_macro' AND database_name = current_database()`,
  );
  return rows.map(({ name }) => name);
}
