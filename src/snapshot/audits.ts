import type { DuckDBConnection } from '@duckdb/node-api';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DataDirectory } from '../config/data-directory.ts';
import { AuditError, type AuditFailure } from '../errors/errors.ts';
import { quotedPathList } from '../text/sql-text.ts';
import { readModel, sqlFolder } from '../warehouse/sql-model.ts';
import { queryRows } from '../duckdb/dialect/rows.ts';
import { eventRelation } from '../warehouse/event-files.ts';

/** Bad rows shown of a failed audit; their number is always told. */
const sampleRows = 3;

/**
 * Runs every query of `sql/audits` over the snapshot being built; each returns the rows that break its law.
 * What history holds was audited when it was published: audits look at the days whose marts were written by runs after
 * `publishedRunId`. Those may be several, since a run that failed or ended after its models left marts unaudited.
 * `parquet` gives the absolute paths of a group's files in the snapshot's folder, oldest day first. Throws `AuditError` naming the audits and some of the rows.
 */
export async function auditSnapshot(
  connection: DuckDBConnection,
  data: DataDirectory,
  publishedRunId: number,
  parquet: (group: string) => string[],
): Promise<number> {
  // A day of clicks on unknown offers only has no file of the mart.
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE audited_days AS
     SELECT day FROM mart_files WHERE run_id > ${publishedRunId} AND mart = 'offer_hourly'
     UNION
     SELECT day FROM event_files WHERE run_id > ${publishedRunId} AND kind = 'clicks' AND form IS NULL`,
  );
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE audited_reports AS SELECT day FROM mart_files WHERE run_id > ${publishedRunId} AND mart = 'report_daily'`,
  );
  const clickFiles = await queryRows<{ path: string }>(
    connection,
    `SELECT path FROM event_files WHERE kind = 'clicks' AND day IN (SELECT day FROM audited_days) ORDER BY path`,
  );
  await connection.run(
    `CREATE OR REPLACE TEMP VIEW audited_clicks AS SELECT clicked_at, offer_id, source, external_id
     FROM ${eventRelation(
       'clicks',
       clickFiles.map(({ path }) => join(data.warehouse, path)),
     )}`,
  );
  // Whether it has rows of the audited days, each file of a view is opened to tell.
  const [{ day: since } = { day: null }] = await queryRows<{ day: string | null }>(
    connection,
    'SELECT min(day)::VARCHAR AS day FROM audited_days',
  );
  for (const mart of ['conversions', 'offer_hourly']) {
    const paths = parquet(`marts/${mart}`);
    const audited = paths.filter((path) => since !== null && basename(path) >= since);
    await connection.run(
      `CREATE OR REPLACE TEMP VIEW audited_${mart} AS
       SELECT * FROM read_parquet(${quotedPathList(audited.length > 0 ? audited : paths.slice(-1))}, hive_partitioning = false)`,
    );
  }
  const names = readdirSync(join(sqlFolder, 'audits'))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -4))
    .toSorted();
  const failures: AuditFailure[] = [];
  for (const name of names) {
    const { query } = readModel('audits', name);
    const sample = await queryRows(connection, `SELECT * FROM (${query}) LIMIT ${sampleRows}`);
    if (sample.length === 0) continue;
    const [bad] = await queryRows<{ rows: number }>(connection, `SELECT count(*) AS rows FROM (${query})`);
    failures.push({ audit: name, badRows: bad?.rows ?? sample.length, sample });
  }
  if (failures.length > 0) throw new AuditError(failures);
  return names.length;
}
