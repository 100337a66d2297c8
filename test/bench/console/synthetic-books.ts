import type { DuckDBConnection } from '@duckdb/node-api';
import { writeFile } from 'node:fs/promises';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import type { RecentRun, RecentRuns, RecentStage } from '../../../src/pipeline/runs/recent-runs.ts';
import { historyEnd } from '../bench.ts';

/** A refresh every half hour; an export of every source every six hours. */
const runsPerDay = 48;
const runsPerExport = 12;
/** Of each offer: it changes every five days. */
const versionsPerOffer = 12;
/** As many as the ledger's copy has. */
const recentRuns = 500;

/** What the pipeline writes down of so many days: runs, files, rejects, versions of offers, reports. */
export async function fillBooks(
  connection: DuckDBConnection,
  data: DataDirectory,
  { days, clicksPerDay }: { days: number; clicksPerDay: number },
): Promise<void> {
  const end = `TIMESTAMPTZ '${historyEnd}'`;
  const runs = days * runsPerDay;
  await connection.run(`
    DELETE FROM runs;
    INSERT INTO runs
    SELECT number, 'refresh', began, began, began, began + INTERVAL 20 SECONDS, CASE WHEN number % 200 = 0 THEN 'failed' ELSE 'done' END,
      format('{:08d}-{}', number, strftime(began, '%Y%m%dT%H%M%SZ')), CASE WHEN number % 200 = 0 THEN 'the disk is full' END
    FROM (SELECT number, ${end} - (${runs} - number) * INTERVAL 30 MINUTES AS began FROM range(1, ${runs + 1}) AS numbers(number))
    ORDER BY number;
    DELETE FROM run_stages;
    INSERT INTO run_stages
    SELECT run_id, stage, started_at + place * INTERVAL 5 SECONDS, started_at + (place + 1) * INTERVAL 5 SECONDS, status, 20000, 20000, 4000000, error
    FROM runs, unnest(['ingest', 'sync-deliveries', 'models', 'publish']) WITH ORDINALITY AS stages(stage, place)
    ORDER BY run_id, place;
    DELETE FROM ingest_files;
    INSERT INTO ingest_files
    SELECT row_number() OVER (ORDER BY run_id, kind, source), format('{}/{}/{}-{}.ndjson', kind, coalesce(source, 'edge'), strftime(started_at, '%Y-%m-%d'), run_id),
      kind, source, sha256(format('{} {} {}', kind, source, run_id)), landed * 230, landed, landed - refused, 0, 0, refused, 0, 'loaded', NULL, run_id, started_at
    FROM (
      SELECT run_id, started_at, kind, NULL AS source,
        CASE kind WHEN 'clicks' THEN ${Math.floor(clicksPerDay / runsPerDay)} ELSE ${Math.floor(clicksPerDay / runsPerDay / 100)} END AS landed,
        CASE WHEN run_id % 10 = 0 THEN 20 ELSE 0 END AS refused
      FROM runs, unnest(['clicks', 'conversions']) AS kinds(kind)
      UNION ALL
      SELECT run_id, started_at, 'offers', source, (SELECT count(*) FROM offers WHERE offers.source = sources.source), 0
      FROM runs, (SELECT DISTINCT source FROM offers) AS sources
      WHERE run_id % ${runsPerExport} = 0
    )
    ORDER BY run_id, kind, source;
    DELETE FROM rejects;
    INSERT INTO rejects
    SELECT file_id, path, line, (['no click_id', 'unknown country', 'a time that is none'])[1 + (line % 3)::INTEGER], 'a row that was refused', 22
    FROM ingest_files, unnest(generate_series(1, rejected)) AS refused(line)
    ORDER BY file_id, line;
    DELETE FROM ingest_warnings;
    INSERT INTO ingest_warnings SELECT file_id, 'unknown field', 'colour', 3 FROM ingest_files WHERE file_id % 10 = 0 ORDER BY file_id;
    CREATE OR REPLACE TEMP TABLE first_versions AS FROM offer_history WHERE version = 1;
    DELETE FROM offer_history;
    INSERT INTO offer_history
    SELECT * EXCLUDE (number) REPLACE (
      number::INTEGER AS version,
      ${end} - (${versionsPerOffer} - number + 1) * INTERVAL 5 DAYS AS valid_from,
      CASE WHEN number < ${versionsPerOffer} THEN ${end} - (${versionsPerOffer} - number) * INTERVAL 5 DAYS END AS valid_to,
      (payout * (1 + number / 100))::DECIMAL(15, 6) AS payout
    )
    FROM (SELECT first_versions.*, number FROM first_versions, range(1, ${versionsPerOffer + 1}) AS numbers(number))
    ORDER BY offer_id, number;
    DELETE FROM report_days;
    INSERT INTO report_days
    SELECT day::DATE, CASE WHEN day::DATE = ${end}::DATE THEN 'open' WHEN day(day) % 9 = 0 THEN 'outdated' ELSE 'current' END, day + INTERVAL 1 DAY, 5000, 1,
      day(day) % 9 = 0, false, false, false
    FROM unnest(generate_series(date_trunc('day', ${end}) - INTERVAL ${days - 1} DAYS, ${end}, INTERVAL 1 DAY)) AS days(day)
    ORDER BY day`);
  await copyNewestRuns(connection, data);
}

/** What `/runs` reads beside the snapshot. */
async function copyNewestRuns(connection: DuckDBConnection, data: DataDirectory): Promise<void> {
  const newest = await queryRows<Omit<RecentRun, 'stages'>>(
    connection,
    `FROM runs ORDER BY run_id DESC LIMIT ${recentRuns}`,
  );
  const stages = Map.groupBy(
    await queryRows<RecentStage & { run_id: number }>(connection, 'FROM run_stages ORDER BY started_at'),
    ({ run_id }) => run_id,
  );
  const recent: RecentRuns = {
    pid: process.pid,
    scheduled: {},
    runs: newest.map((run) => ({ ...run, stages: stages.get(run.run_id) ?? [] })),
  };
  await writeFile(data.recentRunsFile, `${JSON.stringify(recent)}\n`);
}
