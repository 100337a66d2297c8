import { dayMarts } from '../../models/day-marts.ts';

/**
 * Tables of `analytics.duckdb`, copied whole into each snapshot: small, whatever history holds. Their models are in
 * `sql/marts`.
 */
export const analyticsTables = [
  'offers',
  'offer_history',
  'offer_stats_2d',
  'network_hourly',
  'sites',
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
 * Views of `analytics.duckdb`: `clicks` over the event files and `offers`, the others over the files of a mart, one a
 * day.
 */
export const analyticsViews = ['clicks', ...dayMarts] as const;
