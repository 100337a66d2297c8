import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';

/**
 * Returns the relations that a model's query reads, as DuckDB's parser finds them, without those that it defines itself
 * by `WITH`. `snapshot.x` is a table of the snapshot being built.
 */
export async function relationsOf(connection: DuckDBConnection, query: string): Promise<string[]> {
  const [parsed] = await queryRows<{ tree: string }>(connection, 'SELECT json_serialize_sql($1::VARCHAR) AS tree', [
    query.replaceAll(/\$\w+/g, 'NULL'),
  ]);
  const tree = JSON.parse(parsed?.tree ?? '{}') as { error: boolean; error_message?: string };
  if (tree.error) throw new Error(tree.error_message);
  const named = new Set<string>();
  const defined = new Set<string>();
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, schema_name: schema, table_name: table, cte_map: ctes } = node as Record<string, unknown>;
    if (type === 'BASE_TABLE') named.add(schema === '' ? (table as string) : `${schema as string}.${table as string}`);
    for (const { key } of (ctes as { map: { key: string }[] } | undefined)?.map ?? []) defined.add(key);
    for (const child of Object.values(node)) walk(child);
  };
  walk(tree);
  return [...named].filter((name) => !defined.has(name)).toSorted();
}
