import type { DuckDBConnection } from '@duckdb/node-api';
import { commissionText, rewardRateText, type Site } from '../../../kit/sites/sites.ts';
import { dayOf, type Moment } from '../../../kit/time/moment.ts';
import { insertRows } from '../../../kit/duckdb/insert-rows.ts';
import { countRows, makeTempTable } from '../../../kit/duckdb/temp-table.ts';
import { loadSiteCommissions, makeRunInput, scopeConversions } from '../../sql/run-inputs.ts';
import { modelQuery } from '../../sql/model-query.ts';
import { markPostbackDays } from '../../warehouse/dirty-partitions.ts';
import type { NewConversionEvents } from './attribution.ts';

/**
 * Marks this run's conversion events as undecided; whether they make postbacks is for `writeOutbox` to say. A rebuilt
 * state reads some again that were decided long ago.
 */
export async function awaitPostbacks(connection: DuckDBConnection, newEvents: NewConversionEvents): Promise<void> {
  await connection.run(
    `INSERT INTO postbacks_undecided SELECT conversion_id, kind FROM ${newEvents} WHERE (conversion_id, kind) NOT IN (SELECT (conversion_id, kind) FROM settled_events)`,
  );
}

/** Undecided events of conversions whose click is known. The others wait, some for clicks that never come. */
const undecidedWithClick = `postbacks_undecided JOIN conversion_events USING (conversion_id) JOIN conversion_clicks USING (click_id)`;

/**
 * Writes the postbacks of conversion events that are decided at as-of, in the caller's transaction. An event of a site
 * without a postback address is decided too: sites that add an address later get no postbacks for earlier events. One
 * of a site that `sites.json` does not know waits, so that no reward is lost where the file is missing for one run. The
 * id follows from conversion and kind alone, so that nothing can ever give an event a second one. Returns the number of
 * postbacks written.
 */
export async function writeOutbox(connection: DuckDBConnection, sites: readonly Site[], asOf: Moment): Promise<number> {
  if ((await countRows(connection, undecidedWithClick)) === 0) return 0;
  await loadPostbackSites(connection, sites);
  await loadSiteCommissions(connection, sites);
  await scopeConversions(connection, `SELECT DISTINCT conversion_id FROM ${undecidedWithClick}`);
  const decided = await makeTempTable(
    connection,
    'decided_postbacks',
    modelQuery('staging', 'postbacks_due', { as_of: asOf }),
  );
  const { rowsChanged } = await connection.run(
    `INSERT INTO outbox
     SELECT (SELECT coalesce(max(number), 0) FROM outbox) + row_number() OVER (ORDER BY occurred_at, conversion_id, kind),
       'pb_' || left(sha256(kind || ':' || conversion_id), 32),
       conversion_id, kind, click_id, site_key, user_id, offer_id, reward, occurred_at, TIMESTAMPTZ '${asOf}', further
     FROM ${decided} WHERE is_sent`,
  );
  await connection.run(
    `DELETE FROM postbacks_undecided WHERE (conversion_id, kind) IN (SELECT (conversion_id, kind) FROM ${decided})`,
  );
  if (rowsChanged > 0) await markPostbackDays(connection, 'postbacks', `SELECT DATE '${dayOf(asOf)}' AS day`);
  return rowsChanged;
}

/** Loads what the model reads of `sites.json`: neither a secret nor an address. */
async function loadPostbackSites(connection: DuckDBConnection, sites: readonly Site[]): Promise<void> {
  await insertRows(
    connection,
    await makeRunInput(connection, 'run_postback_sites'),
    {
      site_key: 'VARCHAR',
      has_address: 'BOOLEAN',
      has_pending: 'BOOLEAN',
      commission: 'VARCHAR',
      reward_rate: 'VARCHAR',
    },
    sites.map((site) => ({
      site_key: site.site_key,
      has_address: site.postback !== undefined,
      has_pending: site.postback?.pending === true,
      commission: commissionText(site),
      reward_rate: rewardRateText(site),
    })),
  );
}
