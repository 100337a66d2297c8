import { ResultReturnType, StatementType } from '@duckdb/node-api';
import type { DuckDBConnection, DuckDBMaterializedResult } from '@duckdb/node-api';
import { DialectAdapterBase, PostgresQueryCompiler } from 'kysely';
import type {
  CompiledQuery,
  DatabaseConnection,
  DatabaseIntrospector,
  Dialect,
  DialectAdapter,
  Driver,
  Kysely,
  OrActionNode,
  QueryCompiler,
  QueryResult,
  TransactionSettings,
} from 'kysely';
import { DuckDBIntrospector } from './introspector.ts';
import { bindParameters } from './parameters.ts';
import { chunksOf, rowsOf } from './rows.ts';
import { beginTransaction, commitTransaction, rollbackTransaction } from './transaction.ts';

/**
 * Kysely over ONE DuckDB connection, opened and closed by its owner, who may run statements and
 * transactions on it too. DuckDB understands PostgreSQL's `$1`, RETURNING and ON CONFLICT, and SQLite's INSERT OR …
 */
export class DuckDBDialect implements Dialect {
  readonly #connection: DuckDBConnection;

  constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  createDriver(): Driver {
    return new DuckDBDriver(this.#connection);
  }

  createQueryCompiler(): QueryCompiler {
    return new DuckDBQueryCompiler();
  }

  createAdapter(): DialectAdapter {
    return new DuckDBAdapter();
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new DuckDBIntrospector(db);
  }
}

class DuckDBQueryCompiler extends PostgresQueryCompiler {
  protected override visitOrAction({ action }: OrActionNode): void {
    this.append(`or ${action}`);
  }
}

class DuckDBAdapter extends DialectAdapterBase {
  /** Makes Kysely queue its queries: there is one connection. */
  override get supportsMultipleConnections(): boolean {
    return false;
  }

  /** Lets the Migrator roll a failed migration back. */
  override get supportsTransactionalDdl(): boolean {
    return true;
  }

  override get supportsReturning(): boolean {
    return true;
  }

  // The warehouse's own lock keeps other processes out, and within this one there is one connection.
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

/** Hands Kysely the one connection it was given; closing that is its owner's work. */
class DuckDBDriver implements Driver {
  readonly #connection: SharedConnection;

  constructor(connection: DuckDBConnection) {
    this.#connection = new SharedConnection(connection);
  }

  async acquireConnection(): Promise<SharedConnection> {
    return this.#connection;
  }

  async beginTransaction({ duckdb }: SharedConnection, settings: TransactionSettings): Promise<void> {
    if (settings.isolationLevel !== undefined || settings.accessMode !== undefined) {
      throw new Error('DuckDB has one isolation level and access mode: begin the transaction without settings');
    }
    await beginTransaction(duckdb);
  }

  async commitTransaction({ duckdb }: SharedConnection): Promise<void> {
    await commitTransaction(duckdb);
  }

  async rollbackTransaction({ duckdb }: SharedConnection): Promise<void> {
    await rollbackTransaction(duckdb);
  }

  async init(): Promise<void> {}
  async releaseConnection(): Promise<void> {}
  async destroy(): Promise<void> {}
}

/** Kysely's view of the one DuckDB connection. */
class SharedConnection implements DatabaseConnection {
  readonly duckdb: DuckDBConnection;

  constructor(duckdb: DuckDBConnection) {
    this.duckdb = duckdb;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { values, types } = bindParameters(parameters);
    return queryResult(await this.duckdb.run(sql, values, types));
  }

  /** Yields chunks of up to 2,048 rows, as DuckDB does, whatever size is requested. */
  async *streamQuery<R>({ sql, parameters }: CompiledQuery): AsyncIterableIterator<QueryResult<R>> {
    const { values, types } = bindParameters(parameters);
    for await (const rows of chunksOf(await this.duckdb.stream(sql, values, types))) yield { rows: rows as R[] };
  }

  async cancelQuery(): Promise<void> {
    this.duckdb.interrupt();
  }
}

const writes: readonly StatementType[] = [
  StatementType.INSERT,
  StatementType.UPDATE,
  StatementType.DELETE,
  StatementType.MERGE_INTO,
];

/** DuckDB answers a write without RETURNING with one row that holds the count; that row is not the caller's. */
async function queryResult<R>(result: DuckDBMaterializedResult): Promise<QueryResult<R>> {
  const rows = result.returnType === ResultReturnType.QUERY_RESULT ? ((await rowsOf(result)) as R[]) : [];
  if (!writes.includes(result.statementType)) return { rows };
  const affected = result.returnType === ResultReturnType.QUERY_RESULT ? rows.length : result.rowsChanged;
  return { rows, numAffectedRows: BigInt(affected) };
}
