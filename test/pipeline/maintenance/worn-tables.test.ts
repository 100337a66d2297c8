import { expect, it } from 'vitest';
import { compactStage } from '../../../src/pipeline/maintenance/compact-stage.ts';
import { click, LogLanding } from '../../support/log-landing.ts';
import { testRun } from '../../test-run.ts';

/** Rows that a table keeps on the disk, deleted ones among them. */
async function stored(landing: LogLanding, table: string): Promise<number> {
  await landing.query('CHECKPOINT');
  const [row] = await landing.query<{ rows: number }>(
    `SELECT coalesce(sum(count), 0)::BIGINT AS rows FROM pragma_storage_info('${table}') WHERE column_id = 0 AND segment_type <> 'VALIDITY'`,
  );
  return row?.rows ?? 0;
}

/** A mart's 300 days, deleted and inserted so many times. */
async function writeDays(landing: LogLanding, runs: number): Promise<void> {
  for (let run = 1; run <= runs; run++) {
    await landing.query('BEGIN; DELETE FROM mart_files');
    await landing.query(
      `INSERT INTO mart_files SELECT 'offer_daily', DATE '2026-01-01' + day::INTEGER, 'marts/' || ${run} || '-' || day, ${run}, now(), 1, 1, '' FROM range(300) AS days(day)`,
    );
    await landing.query('COMMIT; CHECKPOINT');
  }
}

it('maintenance takes deleted rows out of tables with a key, with every row, key and condition as before', async () => {
  await using landing = await LogLanding.create();
  await landing.put('clicks/a.ndjson', [click('c-1')]);
  await landing.ingest();
  await writeDays(landing, 8);
  const before = {
    mart_files: await landing.query('FROM mart_files ORDER BY ALL'),
    event_files: await landing.query('FROM event_files ORDER BY ALL'),
    sql: await landing.query('SELECT table_name, sql FROM duckdb_tables() WHERE NOT temporary ORDER BY ALL'),
  };
  expect(await stored(landing, 'mart_files')).toBeGreaterThan(2_000);

  await compactStage.run(testRun(landing.data, { runId: 100 }), landing.state);
  expect(await stored(landing, 'mart_files')).toBe(300);
  expect({
    mart_files: await landing.query('FROM mart_files ORDER BY ALL'),
    event_files: await landing.query('FROM event_files ORDER BY ALL'),
    sql: await landing.query('SELECT table_name, sql FROM duckdb_tables() WHERE NOT temporary ORDER BY ALL'),
  }).toEqual(before);
  await expect(landing.query('INSERT INTO mart_files FROM mart_files LIMIT 1')).rejects.toThrow('Duplicate key');
  await expect(
    landing.query(
      `INSERT INTO mart_files SELECT * REPLACE (NULL AS path, DATE '2020-01-01' AS day) FROM mart_files LIMIT 1`,
    ),
  ).rejects.toThrow('NOT NULL');
});

it('a table of few deleted rows is left as it is', async () => {
  await using landing = await LogLanding.create();
  await writeDays(landing, 3);
  const kept = await stored(landing, 'mart_files');
  expect(kept).toBeGreaterThan(600);
  await compactStage.run(testRun(landing.data, { runId: 100 }), landing.state);
  expect(await stored(landing, 'mart_files')).toBe(kept);
});
