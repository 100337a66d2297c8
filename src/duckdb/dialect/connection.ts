import { ResultReturnType, StatementType } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBMaterializedResult } from '@duckdb/node-api';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { bindParameters } from './parameters.ts';
import { chunksOf, rowsOf } from './rows.ts';

const writes: readonly StatementType[] = [
  StatementType.INSERT,
  StatementType.UPDATE,
  StatementType.DELETE,
  StatementType.MERGE_INTO,
];

/** Kysely's view of the one DuckDB connection. */
export class WarehouseConnection implements DatabaseConnection {
  readonly duckdb: DuckDBConnection;

  constructor(duckdb: DuckDBConnection) {
    this.duckdb = duckdb;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { values, types } = bindParameters(parameters);
    return queryResult(await this.duckdb.run(sql, values, types));
  }

  /** One chunk of up to 2,048 rows at a time, whatever size was asked for: that is how DuckDB hands rows out. */
  async *streamQuery<R>({ sql, parameters }: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    const { values, types } = bindParameters(parameters);
    for await (const rows of chunksOf(await this.duckdb.stream(sql, values, types))) yield { rows: rows as R[] };
  }

  async cancelQuery(): Promise<void> {
    this.duckdb.interrupt();
  }
}

/** DuckDB answers a write without RETURNING with one row that holds the count; that row is not the caller's. */
async function queryResult<R>(result: DuckDBMaterializedResult): Promise<QueryResult<R>> {
  const rows = result.returnType === ResultReturnType.QUERY_RESULT ? ((await rowsOf(result)) as R[]) : [];
  if (!writes.includes(result.statementType)) return { rows };
  const affected = result.returnType === ResultReturnType.QUERY_RESULT ? rows.length : result.rowsChanged;
  return { rows, numAffectedRows: BigInt(affected) };
}
