import type { DuckDBConnection } from '@duckdb/node-api';
import { Kysely } from 'kysely';
import { DuckDBDialect } from '../../kit/duckdb/dialect/dialect.ts';
import type { Tables } from './tables.ts';

const known = new WeakMap<DuckDBConnection, Kysely<Tables>>();

/**
 * Typed statements on a connection to the state, part of whatever transaction that is in. For what is neither analytics
 * nor bulk: models, audits and all that moves many rows are SQL on the connection itself.
 */
export function kyselyOn(connection: DuckDBConnection): Kysely<Tables> {
  let queries = known.get(connection);
  if (queries === undefined)
    known.set(connection, (queries = new Kysely<Tables>({ dialect: new DuckDBDialect(connection) })));
  return queries;
}
