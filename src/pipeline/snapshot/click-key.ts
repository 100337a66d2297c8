import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { textKey } from '../../kit/vocabulary/event-key.ts';

/** Returns SQL for the `event_key` of a click id in the open snapshot: those published before 2026-11-22 have DuckDB's hash. */
export async function clickKeyOf(connection: DuckDBConnection): Promise<(clickId: string) => string> {
  const [column] = await queryRows<{ data_type: string }>(
    connection,
    `SELECT data_type FROM duckdb_columns() WHERE table_name = 'clicks' AND column_name = 'event_key'`,
  );
  return column?.data_type === 'UBIGINT' ? (clickId) => `hash(${clickId})` : textKey;
}
