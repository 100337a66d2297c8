import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { quoted } from '../text/sql-text.ts';
import { queryRows } from '../duckdb/dialect/rows.ts';
import { readModel, sqlFolder, type SqlModel } from '../warehouse/sql-model.ts';

interface Node {
  name: string;
  layer: 'mart' | 'staging' | 'warehouse' | 'landing' | 'code' | 'unknown';
}

/** What models read that no model and no table of the warehouse gives. */
const handedIn: Record<string, Node> = {
  click_events: { name: 'landing/clicks', layer: 'landing' },
  edge_clicks: { name: 'landing/clicks', layer: 'landing' },
  conversion_scope: { name: 'conversion_events', layer: 'warehouse' },
  run_sites: { name: 'sites.json', layer: 'landing' },
  run_postback_sites: { name: 'sites.json', layer: 'landing' },
  run_metrics: { name: 'sql/metrics', layer: 'code' },
  run_lineage: { name: 'sql', layer: 'code' },
};

/**
 * What the `lineage` mart reads: who reads what, as the models' own SQL says. Names that a model is filled in under while
 * a run computes (`fills:` in its header) stand for that model.
 */
export async function loadLineage(
  connection: DuckDBConnection,
  tables: readonly string[],
  viewsOverTables: readonly string[],
): Promise<void> {
  const edges = await (known ??= readEdges(connection, tables, viewsOverTables));
  await connection.run(
    'CREATE OR REPLACE TEMP TABLE run_lineage (table_name VARCHAR, layer VARCHAR, input VARCHAR, input_layer VARCHAR)',
  );
  await connection.run(
    `INSERT INTO run_lineage VALUES ${edges.map((edge) => `(${edge.map(quoted).join(', ')})`).join(', ')}`,
  );
}

/** The models' files do not change while a process runs. */
let known: Promise<string[][]> | undefined;

async function readEdges(
  connection: DuckDBConnection,
  tables: readonly string[],
  viewsOverTables: readonly string[],
): Promise<string[][]> {
  const staging = readdirSync(join(sqlFolder, 'staging'))
    .toSorted()
    .map((file) => readModel('staging', file.replace(/\.sql$/, '')));
  const marts = tables.map((name) => readModel('marts', name));
  const filled = new Map<string, Node>([
    ...staging.flatMap((model) =>
      [model.name, ...fillsOf(model)].map((name) => [name, { name: model.name, layer: 'staging' }] as const),
    ),
    ...marts.flatMap((model) => fillsOf(model).map((name) => [name, { name: model.name, layer: 'mart' }] as const)),
  ]);
  const warehouse = new Set(
    (
      await queryRows<{ name: string }>(
        connection,
        `SELECT table_name AS name FROM duckdb_tables() WHERE database_name = current_catalog() AND NOT temporary`,
      )
    ).map(({ name }) => name),
  );

  const edges = new Map<string, string[]>();
  for (const [layer, models] of [
    ['staging', staging],
    ['mart', marts],
  ] as const) {
    for (const model of models) {
      for (const { name, published } of await inputsOf(model, viewsOverTables.includes(model.name))) {
        const node: Node = published
          ? { name, layer: 'mart' }
          : (filled.get(name) ?? handedIn[name] ?? { name, layer: warehouse.has(name) ? 'warehouse' : 'unknown' });
        const edge = [model.name, layer, node.name, node.layer];
        edges.set(edge.join(' '), edge);
      }
    }
  }
  return [...edges.values()];
}

/** An empty database: in the warehouse's own, DuckDB looks through temporary views of the run that are there by chance. */
let parser: Promise<DuckDBConnection> | undefined;
const parserConnection = () =>
  (parser ??= DuckDBInstance.create(':memory:', { threads: '1' }).then((instance) => instance.connect()));

/** Names of the tables in a model's query; `published` where they are those of the snapshot, not of the warehouse. */
async function inputsOf(model: SqlModel, isViewOverTables: boolean): Promise<{ name: string; published: boolean }[]> {
  const connection = await parserConnection();
  // Of a query with parameters DuckDB gives no names.
  const names = connection.getTableNames(model.query.replaceAll(/\$\w+/g, 'NULL'), true);
  return [...new Set(names.map((text) => text.replace(/ AS .*$/, '')))].map((text) => {
    const name = text.replace(/^"?snapshot"?\./, '');
    const own = isViewOverTables && handedIn[name] === undefined;
    return { name, published: own || name !== text };
  });
}

function fillsOf({ facts }: SqlModel): string[] {
  return facts['fills']?.split(', ') ?? [];
}
