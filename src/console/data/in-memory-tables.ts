import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';

/** At most half of the memory: sixty days of 5,000 offers take 20 MiB. */
const maxRows = 600_000;
/** Functions of the file without parameters, which read all clicks of two days, or all postbacks. */
const cachedFunctions = ['figures_by_site', 'postbacks_by_site'] as const;

/**
 * Copies relations that many pages read into memory, under the names that they have in the file, so that the SQL of a
 * page runs on the file as well. Relations that an older snapshot lacks, or that have too many rows, stay as they are.
 */
export async function keepInMemory(connection: DuckDBConnection): Promise<void> {
  // A statement over sixty days spends most of its time on opening sixty files.
  if ((await countOf(connection, `duckdb_views() WHERE view_name = 'offer_daily'`)) === 1 && (await fits('offer_daily')))
    await connection.run('CREATE TEMP TABLE offer_daily AS FROM offer_daily ORDER BY day, offer_id');
  for (const name of cachedFunctions) {
    if ((await countOf(connection, `duckdb_functions() WHERE function_name = '${name}'`)) === 0) continue;
    await connection.run(`CREATE TEMP TABLE kept_${name} AS FROM ${name}() LIMIT ${maxRows + 1}`);
    if (await fits(`kept_${name}`)) await connection.run(`CREATE TEMP MACRO ${name}() AS TABLE FROM kept_${name}`);
    else await connection.run(`DROP TABLE kept_${name}`);
  }

  async function fits(relation: string): Promise<boolean> {
    return (await countOf(connection, relation)) <= maxRows;
  }
}

async function countOf(connection: DuckDBConnection, relation: string): Promise<number> {
  const [all] = await queryRows<{ rows: number }>(connection, `SELECT count(*) AS rows FROM ${relation}`);
  return all?.rows ?? 0;
}
