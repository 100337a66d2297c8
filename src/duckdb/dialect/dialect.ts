import type { DuckDBConnection } from '@duckdb/node-api';
import { PostgresQueryCompiler } from 'kysely';
import type { DatabaseIntrospector, Dialect, DialectAdapter, Driver, Kysely, QueryCompiler } from 'kysely';
import { DuckDBAdapter } from './adapter.ts';
import { DuckDBDriver } from './driver.ts';
import { DuckDBIntrospector } from './introspector.ts';

/**
 * Kysely over ONE DuckDB connection, opened and closed by its owner, who may run statements and
 * transactions on it too. DuckDB understands PostgreSQL's `$1`, RETURNING and ON CONFLICT.
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
    return new PostgresQueryCompiler();
  }

  createAdapter(): DialectAdapter {
    return new DuckDBAdapter();
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new DuckDBIntrospector(db);
  }
}
