import type { DuckDBConnection } from '@duckdb/node-api';
import { join } from 'node:path';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { makeTempTable, makeTempView } from '../../kit/duckdb/temp-table.ts';
import { modelQuery } from '../sql/model-query.ts';
import { quotedPathList } from '../../kit/text/sql-text.ts';
import type { Day } from '../../kit/time/moment.ts';
import { martsAsOf } from '../warehouse/dirty-partitions.ts';

/**
 * Returns the UTC days on which sums by hour, by day and by site differ: the audit of a publish, over all days of
 * history. Needs all files of its marts.
 */
export async function daysOfWrongSums(connection: DuckDBConnection, data: DataDirectory): Promise<Day[]> {
  const asOf = await martsAsOf(connection);
  if (asOf === undefined) return [];
  // Days after as-of, from a run with a later one, have files only.
  const files = await queryRows<{ mart: string; path: string }>(
    connection,
    `SELECT mart, path FROM mart_files WHERE day <= TIMESTAMPTZ '${asOf}'::DATE ORDER BY day`,
  );
  const rowsOf = (mart: string) => {
    const paths = files.filter((file) => file.mart === mart).map(({ path }) => join(data.warehouse, path));
    return `read_parquet(${quotedPathList(paths)}, hive_partitioning = false)`;
  };
  for (const mart of ['offer_hourly', 'offer_daily', 'conversions'] as const)
    await makeTempView(connection, `audited_${mart}`, `FROM ${rowsOf(mart)}`);
  await makeTempTable(
    connection,
    'audited_days',
    `SELECT day FROM mart_files UNION SELECT hour::DATE FROM network_hourly UNION SELECT day FROM site_days`,
  );
  await connection.run(`ATTACH ':memory:' AS snapshot`);
  try {
    await connection.run('CREATE TABLE snapshot.network_hourly AS FROM network_hourly');
    await connection.run(
      'CREATE TABLE snapshot.site_daily AS SELECT * RENAME (earnings AS gross_earnings) FROM site_days',
    );
    const wrong = modelQuery('audits', 'daily_sums_equal_hourly');
    const days = await queryRows<{ day: Day }>(
      connection,
      `SELECT DISTINCT day::VARCHAR AS day FROM (${wrong}) ORDER BY day`,
    );
    return days.map(({ day }) => day);
  } finally {
    await connection.run('DETACH snapshot');
  }
}
