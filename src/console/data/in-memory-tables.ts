import type { DuckDBConnection } from '@duckdb/node-api';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';

/** Half of the memory at most: sixty days of 5,000 offers take 20 MiB. */
const mostRows = 600_000;
/** Functions of the file that read all clicks of two days, or all postbacks, and answer everybody alike. */
const keptFunctions = ['figures_by_site', 'postbacks_by_site'] as const;

/**
 * Copies what many pages ask for into memory, where it stands under its own name before what the file has: so the SQL
 * that a page shows is true on the file as well. What a snapshot of an earlier version lacks is left out, and what is
 * too much stays where it is.
 */
export async function keepInMemory(connection: DuckDBConnection): Promise<void> {
  // Most of a statement over sixty days is the opening of sixty files.
  if ((await countOf(connection, `duckdb_views() WHERE view_name = 'offer_daily'`)) === 1 && (await fits('offer_daily')))
    await connection.run('CREATE TEMP TABLE offer_daily AS FROM offer_daily ORDER BY day, offer_id');
  for (const name of keptFunctions) {
    if ((await countOf(connection, `duckdb_functions() WHERE function_name = '${name}'`)) === 0) continue;
    await connection.run(`CREATE TEMP TABLE kept_${name} AS FROM ${name}() LIMIT ${mostRows + 1}`);
    if (await fits(`kept_${name}`)) await connection.run(`CREATE TEMP MACRO ${name}() AS TABLE FROM kept_${name}`);
    else await connection.run(`DROP TABLE kept_${name}`);
  }

  async function fits(relation: string): Promise<boolean> {
    return (await countOf(connection, relation)) <= mostRows;
  }
}

async function countOf(connection: DuckDBConnection, relation: string): Promise<number> {
  const [all] = await queryRows<{ rows: number }>(connection, `SELECT count(*) AS rows FROM ${relation}`);
  return all?.rows ?? 0;
}
