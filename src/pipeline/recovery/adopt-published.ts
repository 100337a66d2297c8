import type { DuckDBConnection } from '@duckdb/node-api';
import { join } from 'node:path';
import { countRows, makeTempTable } from '../../kit/duckdb/temp-table.ts';
import { identifier, quoted } from '../../kit/text/sql-text.ts';
import { analyticsFile } from '../snapshot/manifest.ts';
import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import { markPostbackDays } from '../warehouse/dirty-partitions.ts';
import type { PublishedFolder } from './published-folders.ts';

/**
 * Copies from a snapshot into the state what landing files cannot restore: offers with public ids and histories,
 * sites' terms, postbacks, and run numbers, which must only grow. Runs in the caller's transaction, with the snapshot
 * attached by `withPublished`. Copied versions lack the destination address, which is never published, until the
 * source's next export.
 */
export async function adoptPublished(
  connection: DuckDBConnection,
): Promise<{ offers: number; versions: number; runs: number }> {
  const offers = await connection.run(
    `INSERT INTO offers
     SELECT offer_id, source, external_id, (SELECT min(valid_from) FROM published.offer_history AS history WHERE history.offer_id = published.offers.offer_id)
     FROM published.offers WHERE offer_id NOT IN (SELECT offer_id FROM offers)`,
  );
  const versions = await makeTempTable(
    connection,
    'adopted_versions',
    `SELECT * EXCLUDE (valid_to) FROM published.offer_history WHERE (offer_id, version) NOT IN (SELECT (offer_id, version) FROM offer_versions)`,
  );
  await connection.run(`INSERT INTO offer_versions BY NAME FROM ${versions}`);
  await connection.run(
    `INSERT INTO offer_version_events
     SELECT offer_id, version, event->>'event_id', (event->>'payout')::DECIMAL(15, 6)
     FROM (SELECT offer_id, version, unnest(json_extract(events, '$[*]')) AS event FROM ${versions})`,
  );
  await adoptTerms(connection);
  await adoptCappedOffers(connection);
  await adoptPostbacks(connection);
  const runs = await adoptRuns(connection);
  return { offers: offers.rowsChanged, versions: await countRows(connection, versions), runs };
}

/** Returns whether adopting reads a file of a snapshot; damage in other files does not matter. */
export function isAdopted(path: string): boolean {
  return !path.includes('/') || /^marts\/(conversions|postbacks)\//.test(path);
}

/** Attaches the snapshot as `published` while `work` runs. Must not be called in a transaction. */
export async function withPublished<T>(
  connection: DuckDBConnection,
  { path }: PublishedFolder,
  work: () => Promise<T>,
): Promise<T> {
  await connection.run(`ATTACH ${quoted(join(path, analyticsFile))} AS published (READ_ONLY)`);
  try {
    return await work();
  } finally {
    await connection.run('DETACH published');
  }
}

/**
 * Copies terms of sites. A snapshot of 0.2.0 has only the moment of the last change of each commission, so the row
 * before it gets a made-up value.
 */
async function adoptTerms(connection: DuckDBConnection): Promise<void> {
  const unknown = 'site_key NOT IN (SELECT site_key FROM site_terms)';
  await connection.run(
    !(await hasColumn(connection, 'site_terms', 'valid_from'))
      ? `INSERT INTO site_terms (site_key, valid_from, commission)
         SELECT site_key, valid_from, commission FROM (
           SELECT site_key, coalesce(commission_changed_at, TIMESTAMPTZ '1970-01-02 00:00:00+00') AS valid_from, commission FROM published.sites WHERE ${unknown}
           UNION ALL
           SELECT site_key, TIMESTAMPTZ '1970-01-01 00:00:00+00', CASE WHEN commission = 0 THEN 1 ELSE 0 END FROM published.sites
           WHERE commission_changed_at IS NOT NULL AND ${unknown})`
      : `INSERT INTO site_terms BY NAME SELECT * EXCLUDE (valid_to) FROM published.site_terms WHERE ${unknown}`,
  );
}

/** Copies which offers feeds hide, and hid; a snapshot of 0.2.0 has none. */
async function adoptCappedOffers(connection: DuckDBConnection): Promise<void> {
  if (!(await hasColumn(connection, 'offers', 'capped_at'))) return;
  await connection.run(
    `INSERT INTO capped_offers
     SELECT offer_id, capped_at, uncapped_at FROM published.offers
     WHERE capped_at IS NOT NULL AND offer_id NOT IN (SELECT offer_id FROM capped_offers)`,
  );
}

/** Returns whether a published table is there with a column. */
async function hasColumn(connection: DuckDBConnection, table: string, column: string): Promise<boolean> {
  const columns = await queryRows(
    connection,
    `FROM duckdb_columns() WHERE database_name = 'published' AND table_name = '${table}' AND column_name = '${column}'`,
  );
  return columns.length > 0;
}

/**
 * Copies postbacks as they were written, but for the further values that a site may ask for: no snapshot has them.
 * Events of attributed conversions of known sites count as decided, so that one without a postback, because its site
 * had no address, gets none now.
 */
async function adoptPostbacks(connection: DuckDBConnection): Promise<void> {
  const postbacks = await makeTempTable(
    connection,
    'adopted_postbacks',
    `SELECT * FROM published.postbacks WHERE (conversion_id, kind) NOT IN (SELECT (conversion_id, kind) FROM outbox)`,
  );
  await connection.run(
    `INSERT INTO outbox
     SELECT (SELECT coalesce(max(number), 0) FROM outbox) + row_number() OVER (ORDER BY enqueued_at, occurred_at, conversion_id, kind),
       webhook_id, conversion_id, kind, click_id, site_key, user_id, offer_id, reward, occurred_at, enqueued_at, NULL
     FROM ${postbacks}`,
  );
  await markPostbackDays(connection, 'postbacks', `SELECT enqueued_at::DATE AS day FROM ${postbacks}`);
  await adoptDeliveries(connection);
  await connection.run(
    `INSERT OR IGNORE INTO settled_events
     SELECT conversion_id, kind FROM outbox
     UNION
     SELECT conversion_id, kind FROM (
       SELECT conversion_id, unnest([
         CASE WHEN credited_at IS NOT NULL THEN 'credit' END,
         CASE status WHEN 'pending' THEN 'pending' WHEN 'rejected' THEN 'reject' WHEN 'charged_back' THEN 'chargeback' END]) AS kind
       FROM published.conversions
       WHERE status <> 'unattributed' AND site_key IN (SELECT site_key FROM published.sites))
     WHERE kind IS NOT NULL`,
  );
  // The snapshot is newer than the state: events that it has as decided wait no more.
  await connection.run(
    'DELETE FROM postbacks_undecided WHERE (conversion_id, kind) IN (SELECT (conversion_id, kind) FROM settled_events)',
  );
}

/**
 * Copies how far delivery has come: where the delivery store is lost, too, the next sync restores it from there. Those
 * that were not begun count as well, so that the sync knows a store that lacks them for a new one.
 */
async function adoptDeliveries(connection: DuckDBConnection): Promise<void> {
  const deliveries = await makeTempTable(
    connection,
    'adopted_deliveries',
    `SELECT webhook_id, reward, state, attempts, last_attempt_at, last_status, last_error, delivered_at, next_attempt_at
     FROM published.postbacks EXCEPT FROM delivery_states`,
  );
  await connection.run(`DELETE FROM delivery_states WHERE webhook_id IN (SELECT webhook_id FROM ${deliveries})`);
  await connection.run(`INSERT INTO delivery_states FROM ${deliveries}`);
  await markPostbackDays(
    connection,
    'postbacks',
    `SELECT enqueued_at::DATE AS day FROM published.postbacks WHERE webhook_id IN (SELECT webhook_id FROM ${deliveries})`,
  );
}

async function adoptRuns(connection: DuckDBConnection): Promise<number> {
  const columns = await queryRows<{ name: string }>(
    connection,
    `SELECT column_name AS name FROM duckdb_columns() WHERE table_name = 'runs' AND database_name IN (current_database(), 'published') AND schema_name = 'main'
     GROUP BY column_name HAVING count(*) = 2`,
  );
  const names = columns.map(({ name }) => identifier(name)).join(', ');
  const { rowsChanged } = await connection.run(
    `INSERT INTO runs (${names}) SELECT ${names} FROM published.runs WHERE run_id NOT IN (SELECT run_id FROM runs)`,
  );
  return rowsChanged;
}
