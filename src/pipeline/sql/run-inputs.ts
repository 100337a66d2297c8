import type { DuckDBConnection } from '@duckdb/node-api';
import { insertRows } from '../../kit/duckdb/insert-rows.ts';
import { offerCommissions } from '../../kit/sites/offer-commissions.ts';
import type { Site } from '../../kit/sites/sites.ts';
import { makeEmptyTempTable, makeTempTable, type TempTable } from '../../kit/duckdb/temp-table.ts';
import { eventColumns } from '../warehouse/event-files.ts';

/** Origin of a relation, as the published lineage names it. */
export interface Origin {
  name: string;
  layer: 'mart' | 'staging' | 'warehouse' | 'landing' | 'code' | 'unknown';
}

interface RunInput {
  origin: Origin;
  /** Types by column. */
  columns: Record<string, string>;
}

const texts = (...columns: string[]) => Object.fromEntries(columns.map((column) => [column, 'VARCHAR' as const]));
const clicksOfLanding: Origin = { name: 'landing/clicks', layer: 'landing' };
const sitesFile: Origin = { name: 'sites.json', layer: 'landing' };

/** Temporary input tables that a run creates before it executes models. */
export const runInputs = {
  click_events: { origin: clicksOfLanding, columns: eventColumns.clicks },
  named_click_events: { origin: clicksOfLanding, columns: eventColumns.clicks },
  dated_click_events: { origin: clicksOfLanding, columns: { day: 'DATE', ...eventColumns.clicks } },
  dated_named_click_events: { origin: clicksOfLanding, columns: { day: 'DATE', ...eventColumns.clicks } },
  dated_conversions: {
    origin: { name: 'conversions', layer: 'mart' },
    columns: {
      day: 'DATE',
      ...texts('click_id', 'status', 'source', 'site_key', 'country', 'device'),
      offer_id: 'INTEGER',
      payout: 'DECIMAL(15, 6)',
    },
  },
  edge_clicks: {
    origin: clicksOfLanding,
    columns: {
      clicked_at: 'TIMESTAMPTZ',
      offer_id: 'INTEGER',
      ...texts('source', 'external_id'),
    },
  },
  touched_click_counts: {
    origin: clicksOfLanding,
    columns: {
      day: 'DATE',
      offer_id: 'INTEGER',
      ...texts('source', 'external_id', 'site_key'),
      clicks: 'BIGINT',
    },
  },
  cut_event_files: {
    origin: { name: 'event_files', layer: 'warehouse' },
    columns: { ...texts('kind'), moment: 'TIMESTAMPTZ' },
  },
  conversion_scope: { origin: { name: 'conversion_events', layer: 'warehouse' }, columns: texts('conversion_id') },
  run_sites: {
    origin: sitesFile,
    columns: {
      ...texts('site_key', 'name', 'status', 'variant'),
      commission: 'DECIMAL(7, 6)',
      reward_rate: 'DOUBLE',
      rate_limit_per_hour: 'INTEGER',
    },
  },
  run_site_commissions: {
    origin: sitesFile,
    columns: { ...texts('site_key', 'source'), offer_id: 'INTEGER', commission: 'DECIMAL(7, 6)' },
  },
  excepted_conversions: {
    origin: { name: 'conversions', layer: 'mart' },
    columns: {
      credited_at: 'TIMESTAMPTZ',
      site_key: 'VARCHAR',
      offer_id: 'INTEGER',
      payout: 'DECIMAL(15, 6)',
    },
  },
  offers_today: {
    origin: { name: 'offer_daily', layer: 'mart' },
    columns: { offer_id: 'INTEGER', clicks: 'BIGINT', converted_clicks: 'BIGINT' },
  },
  run_postback_sites: {
    origin: sitesFile,
    columns: {
      site_key: 'VARCHAR',
      has_address: 'BOOLEAN',
      has_pending: 'BOOLEAN',
      commission: 'DECIMAL(7, 6)',
      reward_rate: 'DECIMAL(15, 6)',
    },
  },
  run_snapshot: {
    origin: { name: 'manifest.json', layer: 'code' },
    columns: {
      ...texts('snapshot_id', 'offerline_version'),
      as_of: 'TIMESTAMPTZ',
      run_id: 'BIGINT',
      schema_version: 'INTEGER',
    },
  },
  run_metrics: {
    origin: { name: 'sql/metrics', layer: 'code' },
    columns: texts('metric', 'definition', 'unit', 'grain', 'served_as', 'sql'),
  },
  run_lineage: {
    origin: { name: 'sql', layer: 'code' },
    columns: texts('table_name', 'layer', 'input', 'input_layer'),
  },
} satisfies Record<string, RunInput>;

export type RunInputName = keyof typeof runInputs;

export function originOf(name: string): Origin | undefined {
  return (runInputs as Record<string, RunInput>)[name]?.origin;
}

/** Creates an empty input table for the run to fill. */
export async function makeRunInput<Name extends RunInputName>(
  connection: DuckDBConnection,
  name: Name,
): Promise<TempTable<Name>> {
  const columns = Object.entries(runInputs[name].columns).map(([column, type]) => `${column} ${type}`);
  return makeEmptyTempTable(connection, name, columns.join(', '));
}

/** Makes an input of texts alone, and fills it. */
export async function loadTexts(
  connection: DuckDBConnection,
  name: 'run_metrics' | 'run_lineage',
  rows: readonly Record<string, string>[],
): Promise<void> {
  await insertRows(connection, await makeRunInput(connection, name), runInputs[name].columns, rows);
}

/** Makes the table of the commissions that some offers of sites have. */
export async function loadSiteCommissions(connection: DuckDBConnection, sites: readonly Site[]): Promise<void> {
  await insertRows(
    connection,
    await makeRunInput(connection, 'run_site_commissions'),
    { site_key: 'VARCHAR', offer_id: 'INTEGER', source: 'VARCHAR', commission: 'VARCHAR' },
    sites.flatMap(({ site_key, commissions }) =>
      offerCommissions(commissions).map(({ offer: offer_id, ...rest }) => ({ site_key, offer_id, ...rest })),
    ),
  );
}

/** Limits the models to the conversions whose `conversion_id` a query returns. */
export function scopeConversions(
  connection: DuckDBConnection,
  conversionIds: string,
): Promise<TempTable<'conversion_scope'>> {
  return makeTempTable(connection, 'conversion_scope', conversionIds);
}
