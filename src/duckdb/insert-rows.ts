import type { DuckDBConnection } from '@duckdb/node-api';

/** Bounds the size of the one parameter; more rows at once are hardly faster. */
const maxRowsAtOnce = 5_000;

/** Column types as `from_json` takes them; a table's own casts from VARCHAR reach its other types, such as DATE. */
export type RowShape<Row> = Record<
  keyof Row & string,
  'INTEGER' | 'BIGINT' | 'BOOLEAN' | 'VARCHAR' | 'JSON' | readonly ['VARCHAR']
>;

/** Inserts rows into a table by the names of their columns; `orReplace` those whose key is there. */
export async function insertRows<Row extends object>(
  connection: DuckDBConnection,
  table: string,
  shape: RowShape<Row>,
  rows: readonly Row[],
  { orReplace = false }: { orReplace?: boolean } = {},
): Promise<void> {
  await runWithRows(
    connection,
    shape,
    rows,
    `INSERT ${orReplace ? 'OR REPLACE ' : ''}INTO ${table} BY NAME SELECT * FROM rows`,
  );
}

/**
 * Runs a statement that reads `rows`, a table with the shape's columns, for thousands of rows at a time. They travel as
 * one JSON parameter: DuckDB takes twenty times as long over a parameter for each value. Values of BIGINT may be
 * bigints.
 */
export async function runWithRows<Row extends object>(
  connection: DuckDBConnection,
  shape: RowShape<Row>,
  rows: readonly Row[],
  statement: string,
  parameters: Record<string, number | bigint> = {},
): Promise<void> {
  for (let start = 0; start < rows.length; start += maxRowsAtOnce) {
    await connection.run(`WITH rows AS (SELECT r.* FROM (SELECT unnest(from_json($rows, $shape)) AS r)) ${statement}`, {
      rows: JSON.stringify(rows.slice(start, start + maxRowsAtOnce), asJson),
      shape: JSON.stringify([shape]),
      ...parameters,
    });
  }
}

/** What JSON cannot say: whole numbers of any size, and half a surrogate. */
function asJson(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'string' ? value.toWellFormed() : value;
}
