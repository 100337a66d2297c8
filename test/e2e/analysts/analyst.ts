import { DuckDBInstance } from '@duckdb/node-api';
import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';

/**
 * An analyst's process: opens the database that its argument names, read-only, and keeps it open. Says `ready`, then
 * for every line on standard input a digest of everything that the database answers. Ends with its input.
 */
const [, , database] = process.argv;
const instance = await DuckDBInstance.create(database, { access_mode: 'READ_ONLY' });
const connection = await instance.connect();
console.log('ready');
for await (const _ of createInterface({ input: process.stdin })) {
  const digest = createHash('sha256');
  for (const table of [
    'clicks',
    'conversions',
    'offers',
    'offer_history',
    'offer_stats_2d',
    'offer_hourly',
    'report_daily',
    'ingest_files',
    'runs',
  ]) {
    const rows = await connection.runAndReadAll(`SELECT COLUMNS(*)::VARCHAR FROM ${table} ORDER BY ALL`);
    digest.update(JSON.stringify([table, rows.getRowsJson()]));
  }
  console.log(digest.digest('hex'));
}
connection.closeSync();
instance.closeSync();
