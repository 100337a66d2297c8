import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from './dialect/rows.ts';

/** Bounds the number of parameters of a statement. */
const rowsAtOnce = 500;

/**
 * Runs `insert` (`INSERT INTO table`) with the rows as its values, many in one statement: each statement has its price,
 * whatever it inserts. `casts` stand behind the values of a column, such as `::DATE`; empty where it needs none.
 */
export async function insertRows(
  connection: DuckDBConnection, insert: string, casts: readonly string[], rows: readonly (readonly unknown[])[],
): Promise<void> {
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    const chunk = rows.slice(start, start + rowsAtOnce);
    const tuples = chunk.map((_, row) => `(${casts.map((cast, column) => `$${row * casts.length + column + 1}${cast}`).join(', ')})`);
    await queryRows(connection, `${insert} VALUES ${tuples.join(', ')}`, chunk.flat());
  }
}
