import { textKey } from '../../src/kit/vocabulary/event-key.ts';
import { DuckDBInstance } from '@duckdb/node-api';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The bytes of an `analytics.duckdb` that the given statements fill. */
export async function analyticsDatabase(...statements: string[]): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), 'offerline-'));
  try {
    const file = join(folder, 'analytics.duckdb');
    const instance = await DuckDBInstance.create(file);
    const connection = await instance.connect();
    for (const statement of ["SET TimeZone = 'UTC'", ...statements, 'CHECKPOINT']) await connection.run(statement);
    connection.closeSync();
    instance.closeSync();
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What a click lookup reads, with the columns of the pipeline's tables that it needs. */
export const clickTables = [
  `CREATE TABLE offers (offer_id INTEGER, title VARCHAR, source VARCHAR)`,
  `CREATE TABLE clicks (event_key BIGINT AS (${textKey('click_id')}), click_id VARCHAR, offer_id INTEGER, site_key VARCHAR, user_id VARCHAR, clicked_at TIMESTAMPTZ, country VARCHAR, device VARCHAR,
     ip VARCHAR, user_agent VARCHAR, sub1 VARCHAR, sub2 VARCHAR)`,
  `CREATE TABLE conversions (conversion_id VARCHAR, click_id VARCHAR, status VARCHAR, event_id VARCHAR, payout DECIMAL(15, 6), credited_at TIMESTAMPTZ,
     reversed_at TIMESTAMPTZ, occurred_at TIMESTAMPTZ, reason VARCHAR)`,
  `CREATE TABLE postbacks (conversion_id VARCHAR, kind VARCHAR, click_id VARCHAR, reward DECIMAL(24, 4), occurred_at TIMESTAMPTZ, state VARCHAR,
     attempts INTEGER, last_attempt_at TIMESTAMPTZ, last_status INTEGER)`,
];

/** What a site asks of its own records reads, beside `clickTables`. */
export const recordTables = [
  ...clickTables,
  ...[
    'site_key VARCHAR',
    'user_id VARCHAR',
    'offer_id INTEGER',
    'clicked_at TIMESTAMPTZ',
    'changed_at TIMESTAMPTZ',
  ].map((column) => `ALTER TABLE conversions ADD COLUMN ${column}`),
  ...[
    'webhook_id VARCHAR',
    'site_key VARCHAR',
    'user_id VARCHAR',
    'offer_id INTEGER',
    'enqueued_at TIMESTAMPTZ',
    'delivered_at TIMESTAMPTZ',
    'next_attempt_at TIMESTAMPTZ',
  ].map((column) => `ALTER TABLE postbacks ADD COLUMN ${column}`),
  `CREATE TABLE postback_attempts (webhook_id VARCHAR, attempt INTEGER, site_key VARCHAR, started_at TIMESTAMPTZ, duration_ms INTEGER, status INTEGER,
     error VARCHAR)`,
  `CREATE TABLE sites (site_key VARCHAR, commission DECIMAL(7, 6), commission_changed_at TIMESTAMPTZ, reward_rate DOUBLE)`,
  `CREATE TABLE site_commissions (site_key VARCHAR, offer_id INTEGER, source VARCHAR, commission DECIMAL(7, 6))`,
  `CREATE TABLE site_daily (day DATE, site_key VARCHAR, clicks BIGINT, conversions BIGINT, gross_earnings DECIMAL(24, 6),
     earnings_after_commission DECIMAL(24, 4))`,
];
