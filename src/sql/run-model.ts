import type { DuckDBConnection } from '@duckdb/node-api';
import type { QueryParameters } from '../duckdb/sql-parameters.ts';
import { modelQuery } from './model-query.ts';
import type { ModelFolder } from './sql-model.ts';

/** Runs a model's query behind `prefix` (such as `INSERT INTO x`). */
export async function runModel(
  connection: DuckDBConnection,
  folder: ModelFolder,
  name: string,
  prefix: string,
  parameters: QueryParameters = {},
): Promise<number> {
  const result = await connection.run(`${prefix}\n${modelQuery(folder, name, parameters)}`);
  return result.rowsChanged;
}
