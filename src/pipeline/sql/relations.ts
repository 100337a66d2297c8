import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';

/** Relations by query; the queries of `sql/` do not change while a process runs. */
const known = new Map<string, string[]>();

/**
 * Returns for each query the relations that it reads, as DuckDB's parser finds them, without those that it defines
 * itself by `WITH`. `snapshot.x` is a table of the snapshot being built. Throws DuckDB's message for a query that it
 * cannot parse.
 */
export async function relationsOf(connection: DuckDBConnection, queries: readonly string[]): Promise<string[][]> {
  const unknown = [...new Set(queries)].filter((query) => !known.has(query));
  if (unknown.length > 0) {
    // One statement for all: planning a statement takes longer than the parser takes for a query.
    const trees = await queryRows<{ tree: string }>(
      connection,
      'SELECT json_serialize_sql(query) AS tree FROM (SELECT unnest($1) AS query)',
      [unknown.map((query) => query.replaceAll(/\$\w+/g, 'NULL'))],
    );
    unknown.forEach((query, index) => known.set(query, relationsIn(trees[index]?.tree ?? '{}')));
  }
  return queries.map((query) => known.get(query) ?? []);
}

function relationsIn(serialized: string): string[] {
  const tree = JSON.parse(serialized) as { error: boolean; error_message?: string };
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
