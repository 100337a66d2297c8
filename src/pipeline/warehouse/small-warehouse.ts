import type { DuckDBConnection } from '@duckdb/node-api';
import type { Settings } from '../../kit/config/settings.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { thisMachine } from '../../kit/duckdb/duckdb-options.ts';

/** Up to these a run is as fast with one thread of DuckDB as with two, and takes a tenth less processor time. */
const few = { events: 5_000_000, landingBytes: 4 * 2 ** 20 } as const;
const fewOfferVersions = 5_000;

/** Returns whether the tables of offers are so small that what DuckDB does for large ones costs more than it brings. */
export async function hasFewOffers(connection: DuckDBConnection): Promise<boolean> {
  const [row] = await queryRows<{ versions: number }>(connection, 'SELECT count(*) AS versions FROM offer_versions');
  return (row?.versions ?? 0) <= fewOfferVersions;
}

/**
 * Sets how many threads DuckDB has from now on, where the settings do not say it: all, or one in a small warehouse,
 * where the others wait for each other longer than they work. `landingBytes`: of the landing files that are about to be
 * read.
 */
export async function fitThreads(
  connection: DuckDBConnection,
  { duckdb }: Pick<Settings, 'duckdb'>,
  landingBytes = 0,
): Promise<void> {
  if (duckdb.threads !== undefined) return;
  const isSmall =
    landingBytes <= few.landingBytes && (await hasFewOffers(connection)) && (await hasFewEvents(connection));
  await connection.run(`SET threads = ${isSmall ? 1 : thisMachine().processors}`);
}

async function hasFewEvents(connection: DuckDBConnection): Promise<boolean> {
  const [row] = await queryRows<{ events: number | null }>(
    connection,
    'SELECT sum(rows)::BIGINT AS events FROM event_files',
  );
  return (row?.events ?? 0) <= few.events;
}
