import { boundedRows, type BoundedRows } from './mcp/bounded-rows.ts';
import { askSnapshot, type QueryAnswer } from './query.ts';
import { withSnapshotDatabase } from './snapshot-database.ts';
import { limitToTables } from './tables-only.ts';

/** A person's or an assistant's query. */
export interface QueryOrder {
  /** The snapshot's. */
  folder: string;
  sql: string;
  maxRows: number;
  /** As for the console's page: without people's data. */
  tablesOnly?: boolean;
  /** Options of DuckDB in place of its own limits. */
  duckdb: Readonly<Record<string, string>>;
}

export interface QueryTable {
  columns: QueryAnswer['columns'];
  /** The first rows, with long cells cut; its note says what is left out. */
  found: BoundedRows;
}

/** Throws `OfferlineError` for what is no query that only reads and where it fails, `StoppedError` after `stop`. */
export function answerQuery(order: QueryOrder, stop?: AbortSignal): Promise<QueryTable> {
  const { folder, sql, maxRows, tablesOnly = false, duckdb } = order;
  return withSnapshotDatabase(
    { folder },
    async (connection) => {
      if (tablesOnly) await limitToTables(connection, sql);
      const answer = await askSnapshot(connection, sql);
      return { columns: answer.columns, found: await boundedRows(answer, maxRows) };
    },
    { stop, duckdb },
  );
}
