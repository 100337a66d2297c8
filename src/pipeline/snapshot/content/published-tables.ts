import { dayMarts } from '../../models/day-marts.ts';
import type { SqlModel } from '../../sql/sql-model.ts';

/**
 * Tables of `analytics.duckdb`, copied whole into each snapshot: small, however long history is. Models: `sql/marts`.
 */
export const analyticsTables = [
  'snapshot',
  'offers',
  'offer_history',
  'offer_stats_2d',
  'network_hourly',
  'sites',
  'site_commissions',
  'site_terms',
  'site_daily',
  'newest_events',
  'runs',
  'run_stages',
  'report_days',
  'ingest_files',
  'ingest_warnings',
  'rejects',
  'metrics',
  'lineage',
] as const;

/**
 * Views of `analytics.duckdb`: `clicks` over event files and `offers`, the others over a mart's files of a day each.
 */
export const analyticsViews = ['clicks', ...dayMarts] as const;

/** Returns the published comment of a table, view or macro. */
export function commentOf({ purpose, grain }: SqlModel): string {
  return `${purpose} Grain: ${grain}.`;
}
