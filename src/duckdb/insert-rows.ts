import type { DuckDBConnection } from '@duckdb/node-api';

/** Bounds the size of the parameter; more rows at once are hardly faster. */
const rowsAtOnce = 5_000;

/**
 * Runs `insert` (`INSERT INTO table`) with the rows as its values, many in one statement. They travel as one JSON
 * parameter: DuckDB takes twenty times as long over a parameter for each value. `casts` stand behind the values of a
 * column, such as `::DATE`; empty where the text of a value is what the column takes.
 */
export async function insertRows(
  connection: DuckDBConnection,
  insert: string,
  casts: readonly string[],
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  const values = casts.map((cast, column) => `value[${column + 1}]${cast}`).join(', ');
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    await connection.run(`${insert} SELECT ${values} FROM (SELECT unnest(from_json($1, '[["VARCHAR"]]')) AS value)`, [
      JSON.stringify(rows.slice(start, start + rowsAtOnce), asText),
    ]);
  }
}

/** What JSON cannot say: whole numbers of any size, and half a surrogate. */
function asText(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'string' ? value.toWellFormed() : value;
}
