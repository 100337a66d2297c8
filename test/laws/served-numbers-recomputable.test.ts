import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { generate, type GenerateSummary } from '../../src/demo/generate/generate.ts';
import { manifestFile, parseManifest, type Manifest } from '../../src/pipeline/snapshot/manifest.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';

const end = new Date('2026-03-10T13:37:00Z');
const asOf = '2026-03-10T13:37:00Z';

let pipeline: PipelineUnderTest;
let summary: GenerateSummary;
beforeAll(async () => {
  pipeline = await PipelineUnderTest.bare(end);
  summary = await generate({ out: pipeline.data.root, seed: 21, clicks: 2000, days: 3, end, offers: 40, messy: true });
  await pipeline.refresh(asOf);
});
afterAll(() => pipeline[Symbol.asyncDispose]());

it('offer_stats_2d follows from the published clicks, conversions and offers in every cell', async () => {
  const anew = (await readFile(join(import.meta.dirname, 'figures-anew.sql'), 'utf8')).replaceAll(
    '$as_of',
    `TIMESTAMPTZ '${asOf}'`,
  );
  const published = await pipeline.ask(
    `SELECT offer_id, clicks, conversions, converted_clicks, earnings, (epc * 1000000)::HUGEINT AS epc_millionths, (cvr * 1000000)::HUGEINT AS cvr_millionths,
       conversions_24h, conversions_prior_24h, trend, rank
     FROM offer_stats_2d ORDER BY offer_id`,
  );
  expect(await pipeline.ask(anew)).toEqual(published);
  expect(published.length).toBeGreaterThan(20);
  expect(published.filter(({ rank }) => rank !== null).length).toBeGreaterThan(5);
  expect(new Set(published.map(({ trend }) => trend))).toEqual(new Set(['up', 'down', 'stable']));
  expect(await pipeline.ask(`SELECT DISTINCT as_of FROM offer_stats_2d`)).toEqual([{ as_of: asOf }]);
});

it('offer_hourly follows from the published clicks and conversions in every cell', async () => {
  const anew = await pipeline.ask(
    `SELECT offer_id, hour, sum(click)::BIGINT AS clicks, sum(conversion)::BIGINT AS conversions, sum(payout)::DECIMAL(24, 6) AS earnings
     FROM (
       SELECT offer_id, date_trunc('hour', clicked_at) AS hour, 1 AS click, 0 AS conversion, 0::DECIMAL(15, 6) AS payout FROM clicks
       WHERE clicked_at <= TIMESTAMPTZ '${asOf}' AND offer_id IN (SELECT offer_id FROM offers)
       UNION ALL
       SELECT offer_id, date_trunc('hour', credited_at), 0, 1, payout FROM conversions WHERE status = 'credited')
     GROUP BY ALL ORDER BY hour, offer_id`,
  );
  expect(await pipeline.ask('FROM offer_hourly ORDER BY hour, offer_id')).toEqual(anew);
  expect(anew.length).toBeGreaterThan(100);
});

it('the sums of the ledger are those of the published rows and of what the generator wrote', async () => {
  expect(await pipeline.ask('SELECT path FROM ingest_files WHERE rows <> accepted + duplicates + rejected')).toEqual(
    [],
  );
  const sums = await pipeline.ask(
    `SELECT kind, count(*) FILTER (status <> 'quarantined') AS files, count(*) FILTER (status = 'quarantined') AS broken,
       sum(rows) AS rows, sum(accepted) AS accepted, sum(duplicates) AS duplicates, sum(rejected) AS rejected
     FROM ingest_files WHERE kind <> 'offers' GROUP BY kind ORDER BY kind`,
  );
  const written = ({ files, broken, rows, accepted, duplicates, rejected }: GenerateSummary['clicks']) => ({
    files: files - broken,
    broken,
    rows,
    accepted,
    duplicates,
    rejected,
  });
  expect(sums).toEqual([
    { kind: 'clicks', ...written(summary.clicks) },
    { kind: 'conversions', ...written(summary.conversions) },
  ]);
  expect(summary.clicks.broken + summary.conversions.broken).toBeGreaterThan(0);
  expect(
    Math.min(
      summary.clicks.duplicates,
      summary.clicks.rejected,
      summary.conversions.duplicates,
      summary.conversions.rejected,
    ),
  ).toBeGreaterThan(0);

  const [rows] = await pipeline.ask(
    `SELECT (SELECT count(*) FROM clicks) AS clicks, (SELECT count(*) FROM offers) AS offers,
       (SELECT count(*) FROM rejects) AS rejects, (SELECT sum(rejected) FROM ingest_files) AS rejected`,
  );
  expect(rows).toMatchObject({
    clicks: summary.clicks.accepted,
    offers: summary.offers.accepted,
    rejects: rows?.['rejected'],
  });
});

it('the manifest names every file of the snapshot with its digest, and every table with its rows', async () => {
  const folder = join(pipeline.data.published, (await pipeline.snapshots()).current);
  const manifest: Manifest = parseManifest(await readFile(join(folder, manifestFile), 'utf8'));
  const files = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const digests: Manifest['files'] = {};
  for (const path of files) {
    const bytes = await readFile(path);
    // The one run of keys has all clicks.
    const relation = path.endsWith('.parquet') ? `'${path}'` : path.endsWith('.keys') ? 'clicks' : undefined;
    const [counted] =
      relation === undefined ? [] : await pipeline.ask<{ rows: string }>(`SELECT count(*) AS rows FROM ${relation}`);
    digests[relative(folder, path)] = {
      sha256: createHash('sha256').update(bytes).digest('hex'),
      bytes: bytes.length,
      ...(counted && { rows: Number(counted.rows) }),
    };
  }
  delete digests[manifestFile];
  expect(manifest.files).toEqual(digests);
  expect(manifest.as_of).toBe(asOf);

  const counts: Record<string, unknown> = {};
  for (const table of Object.keys(manifest.row_counts))
    counts[table] = (await pipeline.ask(`SELECT count(*) AS rows FROM ${table}`))[0]?.['rows'];
  expect(manifest.row_counts).toEqual(counts);
  expect(Object.keys(counts)).toEqual(
    expect.arrayContaining([
      'offers',
      'offer_history',
      'clicks',
      'conversions',
      'offer_stats_2d',
      'offer_hourly',
      'report_daily',
      'sites',
      'runs',
      'ingest_files',
      'rejects',
    ]),
  );
});

it('every table and column that analysts open says what it is', async () => {
  expect(
    await pipeline.ask(
      `SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal AND coalesce(comment, '') = ''`,
    ),
  ).toEqual([]);
  expect(
    await pipeline.ask(
      `SELECT table_name FROM duckdb_tables() WHERE coalesce(comment, '') = '' UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal AND coalesce(comment, '') = ''`,
    ),
  ).toEqual([]);
});
