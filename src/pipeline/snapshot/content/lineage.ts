import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../../kit/duckdb/dialect/rows.ts';
import { relationsOf } from '../../sql/relations.ts';
import { loadTexts, originOf, type Origin } from '../../sql/run-inputs.ts';
import { modelNames, readModel, type SqlModel } from '../../sql/sql-model.ts';
import { analyticsTables, analyticsViews } from './published-tables.ts';

type Edge = Record<'table_name' | 'layer' | 'input' | 'input_layer', string>;

/**
 * Fills the table that the `lineage` mart reads: which model reads which relations, by DuckDB's parser. A name that a
 * model's rows get while a run computes (`fills:`) counts as that model.
 */
export async function loadLineage(connection: DuckDBConnection): Promise<void> {
  const tables = await queryRows<{ name: string }>(
    connection,
    `SELECT table_name AS name FROM duckdb_tables() WHERE database_name = current_catalog() AND NOT temporary`,
  );
  const edges = await lineage(connection, new Set(tables.map(({ name }) => name)));
  await loadTexts(connection, 'run_lineage', edges);
}

/**
 * Returns table or step, its layer, input and the input's layer, each once. `warehouse`: names of the state's tables.
 */
async function lineage(connection: DuckDBConnection, warehouse: ReadonlySet<string>): Promise<Edge[]> {
  const staging = modelNames('staging').map((name) => readModel('staging', name));
  const marts = [...analyticsTables, ...analyticsViews].map((name) => readModel('marts', name));
  const steps = new Map<string, Origin>([
    ...staging.flatMap((model) => [model.name, ...model.fills].map(named({ name: model.name, layer: 'staging' }))),
    ...marts.flatMap((model) => model.fills.map(named({ name: model.name, layer: 'mart' }))),
  ]);
  const origin = (model: SqlModel, input: string): Origin => {
    if (input.startsWith('snapshot.')) return { name: input.slice('snapshot.'.length), layer: 'mart' };
    // The view `clicks` reads tables of the snapshot.
    if (model.name === 'clicks' && originOf(input) === undefined) return { name: input, layer: 'mart' };
    return (
      steps.get(input) ?? originOf(input) ?? { name: input, layer: warehouse.has(input) ? 'warehouse' : 'unknown' }
    );
  };
  const models = [
    ...staging.map((model) => ({ layer: 'staging', model })),
    ...marts.map((model) => ({ layer: 'mart', model })),
  ];
  const relations = await relationsOf(
    connection,
    models.map(({ model }) => model.query),
  );
  const edges = new Map<string, Edge>();
  models.forEach(({ layer, model }, index) => {
    for (const input of (relations[index] ?? []).map((name) => origin(model, name))) {
      const edge = { table_name: model.name, layer, input: input.name, input_layer: input.layer };
      edges.set(Object.values(edge).join(' '), edge);
    }
  });
  return [...edges.values()];
}

function named(origin: Origin): (name: string) => [string, Origin] {
  return (name) => [name, origin];
}
