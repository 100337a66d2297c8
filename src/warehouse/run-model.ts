import { DuckDBTimestampTZValue, type DuckDBConnection, type DuckDBValue } from '@duckdb/node-api';
import { microsecondsOf } from '../stage/as-of.ts';
import { readModel, type ModelFolder } from './sql-model.ts';

/** Parameters by name, as the model writes them behind `$`. Moments as RFC 3339 text in UTC. */
export type ModelParameters = Record<string, string>;

/** Runs a model's query behind `prefix` (such as `INSERT INTO x`), with those of the parameters that it names. */
export async function runModel(connection: DuckDBConnection, folder: ModelFolder, name: string, prefix: string, parameters: ModelParameters = {}): Promise<number> {
  const { query } = readModel(folder, name);
  const result = await connection.run(`${prefix}\n${query}`, named(query, parameters));
  return result.rowsChanged;
}

/** DuckDB refuses parameters that a statement does not name. Moments are bound as TIMESTAMPTZ, since text would be compared as text. */
function named(query: string, parameters: ModelParameters): Record<string, DuckDBValue> {
  const used = Object.entries(parameters).filter(([name]) => new RegExp(`\\$${name}\\b`).test(query));
  return Object.fromEntries(used.map(([name, text]) => {
    const microseconds = microsecondsOf(text);
    return [name, microseconds === null ? text : new DuckDBTimestampTZValue(microseconds)];
  }));
}
