import type { DuckDBConnection } from '@duckdb/node-api';

/** Bounds the size of one JSON parameter; more rows at once are hardly faster. */
const rowsAtOnce = 5_000;

/** Column types as `from_json` takes them; other types of the table are reached by its own casts from VARCHAR. */
export type Shape<Row> = Record<
  keyof Row & string,
  'INTEGER' | 'BIGINT' | 'BOOLEAN' | 'VARCHAR' | 'JSON' | readonly ['VARCHAR']
>;

/**
 * Runs an `INSERT` whose SELECT reads `rows`, a table with the shape's columns. One statement for thousands of rows:
 * the rows travel as one JSON parameter. BIGINT values may be texts.
 */
export async function insertFrom<Row extends object>(
  connection: DuckDBConnection,
  shape: Shape<Row>,
  rows: readonly Row[],
  insert: string,
  parameters: Record<string, number | bigint> = {},
): Promise<void> {
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    await connection.run(`WITH rows AS (SELECT r.* FROM (SELECT unnest(from_json($rows, $shape)) AS r)) ${insert}`, {
      rows: JSON.stringify(rows.slice(start, start + rowsAtOnce)),
      shape: JSON.stringify([shape]),
      ...parameters,
    });
  }
}
