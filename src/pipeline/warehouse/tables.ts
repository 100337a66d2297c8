// Generated from sql/migrations by src/pipeline/warehouse/generate-tables.ts: do not edit, generate it again.
import type { ColumnType, Generated } from 'kysely';

/**
 * The tables of state.duckdb by name. `duckdb/dialect/rows.ts` maps column types to JavaScript.
 * A column of nanoseconds (`_ns`) is written as bigint and read by casting it to VARCHAR.
 */
export interface Tables {
  capped_offers: CappedOffersTable;
  click_hourly: ClickHourlyTable;
  conversion_clicks: ConversionClicksTable;
  conversion_events: ConversionEventsTable;
  conversion_states: ConversionStatesTable;
  delivery_attempts: DeliveryAttemptsTable;
  delivery_states: DeliveryStatesTable;
  dirty_days: DirtyDaysTable;
  dirty_postback_days: DirtyPostbackDaysTable;
  event_files: EventFilesTable;
  ingest_files: IngestFilesTable;
  ingest_warnings: IngestWarningsTable;
  key_runs: KeyRunsTable;
  landing_seen: LandingSeenTable;
  mart_files: MartFilesTable;
  network_hourly: NetworkHourlyTable;
  offer_records: OfferRecordsTable;
  offer_stats_2d: OfferStats_2dTable;
  offer_version_events: OfferVersionEventsTable;
  offer_versions: OfferVersionsTable;
  offers: OffersTable;
  outbox: OutboxTable;
  outdated_reports: OutdatedReportsTable;
  postbacks_undecided: PostbacksUndecidedTable;
  rejects: RejectsTable;
  run_stages: RunStagesTable;
  runs: RunsTable;
  settled_events: SettledEventsTable;
  site_days: SiteDaysTable;
  site_terms: SiteTermsTable;
  staged_reports: StagedReportsTable;
  waiting_clicks: WaitingClicksTable;
  warehouse_facts: WarehouseFactsTable;
}

export interface CappedOffersTable {
  offer_id: number;
  capped_at: ColumnType<string, string | Date>;
  uncapped_at: ColumnType<string | null, string | Date | null>;
}

export interface ClickHourlyTable {
  hour: ColumnType<string, string | Date>;
  offer_id: number;
  source: string;
  external_id: string;
  clicks: number;
}

export interface ConversionClicksTable {
  click_id: string;
  offer_id: number | null;
  source: string | null;
  external_id: string | null;
  site_key: string;
  user_id: string;
  clicked_at: ColumnType<string, string | Date>;
  known_at: ColumnType<string | null, string | Date | null>;
  country: string | null;
  device: string | null;
  sub1: string | null;
  sub2: string | null;
}

export interface ConversionEventsTable {
  conversion_id: string;
  kind: 'pending' | 'credit' | 'reject' | 'chargeback';
  click_id: string;
  occurred_at: ColumnType<string, string | Date>;
  event_id: string | null;
  payout: string | null;
  reason: string | null;
  file_id: number;
  known_at: ColumnType<string | null, string | Date | null>;
}

export interface ConversionStatesTable {
  conversion_id: string;
  credits: number;
  state: 'pending' | 'credited' | 'reversed';
  payout: string | null;
  version: string | null;
  listed: string | null;
  file_id: number | null;
  line: number | null;
  click_id: string | null;
  events: string | null;
  occurred_at: ColumnType<string | null, string | Date | null>;
}

export interface DeliveryAttemptsTable {
  webhook_id: string;
  attempt: number;
  started_at: ColumnType<string, string | Date>;
  duration_ms: number;
  status: number | null;
  error: string | null;
  host: string;
}

export interface DeliveryStatesTable {
  webhook_id: string;
  reward: string;
  state: 'pending' | 'delivering' | 'delivered' | 'dead';
  attempts: number;
  last_attempt_at: ColumnType<string | null, string | Date | null>;
  last_status: number | null;
  last_error: string | null;
  delivered_at: ColumnType<string | null, string | Date | null>;
  next_attempt_at: ColumnType<string | null, string | Date | null>;
}

export interface DirtyDaysTable {
  day: string;
}

export interface DirtyPostbackDaysTable {
  mart: string;
  day: string;
}

export interface EventFilesTable {
  path: string;
  kind: 'clicks' | 'conversions';
  day: string;
  run_id: number;
  rows: number;
  bytes: number;
  sha256: string;
  first_at: ColumnType<string, string | Date>;
  last_at: ColumnType<string, string | Date>;
  form: string | null;
}

export interface IngestFilesTable {
  file_id: number;
  run_id: number;
  kind: 'offers' | 'clicks' | 'conversions';
  source: string | null;
  path: string;
  sha256: string;
  bytes: number;
  modified_ns: ColumnType<never, bigint>;
  rows: number;
  accepted: number;
  duplicates: number;
  conflicts: number;
  rejected: number;
  warnings: number;
  status: 'loaded' | 'quarantined' | 'held' | 'superseded';
  reason: string | null;
  ingested_at: ColumnType<string, string | Date>;
  read_with: string;
}

export interface IngestWarningsTable {
  file_id: number;
  warning: string;
  field: string | null;
  rows: number;
}

export interface KeyRunsTable {
  path: string;
  kind: 'clicks' | 'conversions';
  entries: number;
  bytes: number;
  sha256: string;
}

export interface LandingSeenTable {
  path: string;
  bytes: number;
  modified_ns: ColumnType<never, bigint>;
  changed_ns: ColumnType<never, bigint>;
  sha256: string;
}

export interface MartFilesTable {
  mart: string;
  day: string;
  path: string;
  run_id: number;
  as_of: ColumnType<string, string | Date>;
  rows: number;
  bytes: number;
  sha256: string;
}

export interface NetworkHourlyTable {
  hour: ColumnType<string, string | Date>;
  clicks: number;
  conversions: number;
  earnings: string;
}

export interface OfferRecordsTable {
  offer_id: number;
  version: number;
  record_sha256: string;
  read_as_sha256: string;
  read_at: ColumnType<string, string | Date>;
  remarks: string | null;
}

export interface OfferStats_2dTable {
  offer_id: number;
  as_of: ColumnType<string, string | Date>;
  clicks: number;
  conversions: number;
  converted_clicks: number;
  earnings: string;
  epc: string;
  cvr: string;
  conversions_24h: number;
  conversions_prior_24h: number;
  trend: string;
  rank: number | null;
}

export interface OfferVersionEventsTable {
  offer_id: number;
  version: number;
  event_id: string;
  payout: string;
}

export interface OfferVersionsTable {
  offer_id: number;
  version: number;
  valid_from: ColumnType<string, string | Date>;
  run_id: number;
  status: 'active' | 'paused' | 'vanished';
  titles: string;
  descriptions: string;
  payout: string;
  image_name: string;
  image_source: string;
  level: string;
  stars: number;
  categories: string[];
  countries: string[];
  devices: string[];
  payment_term: string;
  android_min_os: string | null;
  ios_min_os: string | null;
  destination_url: string | null;
  preview_url: string | null;
  tracking_type: string;
  report_category: string;
  formats: string[];
  daily_cap: number | null;
  daily_click_cap: number | null;
  multi_complete: boolean;
  events: string;
  created_at: ColumnType<string, string | Date>;
  updated_at: ColumnType<string, string | Date>;
  content_sha256: string;
  published_sha256: string;
  currency: string | null;
  currency_rate: string | null;
}

export interface OffersTable {
  offer_id: number;
  source: string;
  external_id: string;
  first_seen_at: ColumnType<string, string | Date>;
}

export interface OutboxTable {
  number: number;
  webhook_id: string;
  conversion_id: string;
  kind: 'pending' | 'credit' | 'reject' | 'chargeback';
  click_id: string;
  site_key: string;
  user_id: string;
  offer_id: number;
  reward: string;
  occurred_at: ColumnType<string, string | Date>;
  enqueued_at: ColumnType<string, string | Date>;
  further: string | null;
}

export interface OutdatedReportsTable {
  day: string;
  cause: 'clicks' | 'conversions' | 'attribution' | 'offers';
  run_id: number;
}

export interface PostbacksUndecidedTable {
  conversion_id: string;
  kind: string;
}

export interface RejectsTable {
  file_id: number;
  path: string;
  line: number;
  reason: string;
  raw: string;
  raw_length: number;
}

export interface RunStagesTable {
  run_id: number;
  stage: string;
  started_at: ColumnType<string, string | Date>;
  finished_at: ColumnType<string | null, string | Date | null>;
  status: 'running' | 'done' | 'failed' | 'interrupted';
  rows_in: number | null;
  rows_out: number | null;
  error: string | null;
  bytes: number | null;
}

export interface RunsTable {
  run_id: number;
  pipeline: string;
  as_of: ColumnType<string, string | Date>;
  started_at: ColumnType<string, string | Date>;
  finished_at: ColumnType<string | null, string | Date | null>;
  status: 'running' | 'done' | 'failed' | 'interrupted';
  snapshot_id: string | null;
  error: string | null;
  scheduled_at: ColumnType<string | null, string | Date | null>;
}

export interface SettledEventsTable {
  conversion_id: string;
  kind: string;
}

export interface SiteDaysTable {
  day: string;
  site_key: string;
  clicks: number;
  conversions: number;
  converted_clicks: number;
  earnings: string;
}

export interface SiteTermsTable {
  site_key: string;
  valid_from: ColumnType<string, string | Date>;
  commission: string;
  commissions: Generated<string | null>;
  offers: Generated<string | null>;
  reward_rate: string | null;
}

export interface StagedReportsTable {
  day: string;
  path: string;
  run_id: number;
  as_of: ColumnType<string, string | Date>;
  rows: number;
  bytes: number;
  sha256: string;
}

export interface WaitingClicksTable {
  click_id: string;
}

export interface WarehouseFactsTable {
  fact: string;
  value: string;
}
