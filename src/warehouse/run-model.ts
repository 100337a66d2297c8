import type { DuckDBConnection } from '@duckdb/node-api';
import { quoted } from '../text/sql-text.ts';
import { microsecondsOf } from '../time/moment.ts';
import { readModel, type ModelFolder } from './sql-model.ts';

/** Parameters by name, as the model writes them behind `$`: moments as RFC 3339 text in UTC, and days. */
export type ModelParameters = Record<string, string>;

/** Runs a model's query behind `prefix` (such as `INSERT INTO x`). */
export async function runModel(
  connection: DuckDBConnection,
  folder: ModelFolder,
  name: string,
  prefix: string,
  parameters: ModelParameters = {},
): Promise<number> {
  const result = await connection.run(`${prefix}\n${modelQuery(folder, name, parameters)}`);
  return result.rowsChanged;
}

/**
 * A model's query with its parameters written into it. DuckDB plans a statement with parameters twice, when it is prepared
 * and again once their values are known; for models over little data the planning is nearly all there is. Moments
 * become literals of their type, since text would be compared as text.
 */
export function modelQuery(folder: ModelFolder, name: string, parameters: ModelParameters = {}): string {
  return readModel(folder, name).query.replaceAll(/\$(\w+)/g, (written, parameter: string) => {
    const value = parameters[parameter];
    if (value === undefined) return written;
    return microsecondsOf(value) === null ? quoted(value) : `TIMESTAMPTZ ${quoted(value)}`;
  });
}
