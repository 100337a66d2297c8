import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { modelQuery } from './model-query.ts';
import type { ModelRows } from './model-rows.ts';
import { readModel } from './sql-model.ts';

type MartName = keyof ModelRows['marts'];
export type MartRow<Name extends MartName> = ModelRows['marts'][Name];

/** Runs a mart's query and returns its rows. */
export async function readMart<Name extends MartName>(
  connection: DuckDBConnection,
  name: Name,
): Promise<MartRow<Name>[]> {
  return queryRows<MartRow<Name>>(connection, modelQuery('marts', name, {}));
}

/**
 * Returns some columns of a published table, in the order of its key. `schema`: where the snapshot is attached, with
 * the dot; by default the open database.
 */
export async function readPublished<Name extends MartName, Column extends keyof MartRow<Name> & string>(
  connection: DuckDBConnection,
  name: Name,
  columns: readonly Column[],
  schema: 'snapshot.' | '' = '',
): Promise<Pick<MartRow<Name>, Column>[]> {
  const { key } = readModel('marts', name);
  return queryRows(connection, `SELECT ${columns.join(', ')} FROM ${schema}${name} ORDER BY ${key.join(', ')}`);
}
