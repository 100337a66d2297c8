import { renameSync, rmSync, statSync, truncateSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { refresh } from '../../../pipelines/refresh.ts';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { inMemory, withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { writeLake } from '../../../src/pipeline/snapshot/lake/write-lake.ts';
import { parseManifest, type Manifest } from '../../../src/pipeline/snapshot/manifest.ts';
import { snapshotNames } from '../../../src/pipeline/snapshot/snapshot-store.ts';
import { clicks, smallData } from '../../e2e/small-data.ts';
import { askCatalog, missingFiles } from '../../support/lake.ts';
import type { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { slow } from '../../support/slow.ts';

const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

let pipeline: PipelineUnderTest;
let minutes = -10;
beforeAll(async () => {
  pipeline = await smallData({ snapshots_kept: 3, snapshots_kept_hours: 0 });
  for (let round = 0; round < 4; round++) await next();
});
afterAll(() => pipeline[Symbol.asyncDispose]());

/** As-of of the newest refresh. */
function asOf(): string {
  return new Date(Date.parse('2025-03-10T12:00:00Z') + minutes * 60_000).toISOString().replace('.000', '');
}

async function landNext(): Promise<void> {
  minutes += 10;
  await pipeline.landLog('clicks', 'ndjson', clicks(`at-${minutes}`, 3, asOf()));
}

async function next(): Promise<void> {
  await landNext();
  await pipeline.refresh(asOf());
}

async function manifests(): Promise<Manifest[]> {
  const names = await snapshotNames(pipeline.data);
  return Promise.all(
    names.map(async (name) =>
      parseManifest(await readFile(join(pipeline.data.published, name, 'manifest.json'), 'utf8')),
    ),
  );
}

it('its snapshots are the kept ones: the number is that of the run, the time the as-of, the message our id', async () => {
  const kept = await manifests();
  expect(kept).toHaveLength(3);
  expect(
    await askCatalog(
      pipeline.data,
      'SELECT snapshot_id, snapshot_time, author, commit_message FROM ducklake_snapshot JOIN ducklake_snapshot_changes USING (snapshot_id) ORDER BY ALL',
    ),
  ).toEqual(
    kept.map(({ run_id, as_of, snapshot_id }) => ({
      snapshot_id: run_id,
      snapshot_time: as_of,
      author: 'offerline',
      commit_message: snapshot_id,
    })),
  );
});

it('each table has in each snapshot the rows that its manifest counts', async () => {
  const counts = await askCatalog<{ id: number; name: string; rows: number }>(
    pipeline.data,
    `SELECT snapshot_id AS id, if(table_name = 'click_events', 'clicks', table_name) AS name, coalesce(sum(record_count), 0)::BIGINT AS "rows"
     FROM ducklake_snapshot CROSS JOIN ducklake_table
     LEFT JOIN ducklake_data_file AS file ON file.table_id = ducklake_table.table_id AND file.begin_snapshot <= snapshot_id AND coalesce(file.end_snapshot, 99) > snapshot_id
     GROUP BY ALL`,
  );
  const kept = await manifests();
  for (const { run_id, row_counts } of kept)
    expect(Object.fromEntries(counts.filter(({ id }) => id === run_id).map(({ name, rows }) => [name, rows]))).toEqual(
      row_counts,
    );
  expect(
    counts
      .filter(({ name }) => name === 'clicks')
      .map(({ rows }) => rows)
      .toSorted((one, other) => one - other),
  ).toEqual([26, 29, 32]);
});

it('a file of several snapshots is one row, which names it in the newest of them', async () => {
  const kept = await manifests();
  const newest = kept.at(-1)?.snapshot_id ?? '';
  const files = await askCatalog<{ path: string; begin: number; end: number | null }>(
    pipeline.data,
    'SELECT path, begin_snapshot AS "begin", end_snapshot AS "end" FROM ducklake_data_file',
  );
  const ofMetrics = files.filter(({ path }) => path.endsWith('/tables/lineage.parquet'));
  expect(ofMetrics).toEqual([{ path: `${newest}/tables/lineage.parquet`, begin: 2, end: null }]);
  // Of each run: another file, in its own folder.
  expect(
    files.filter(({ path }) => path.endsWith('/tables/runs.parquet')).map(({ begin, end }) => [begin, end]),
  ).toEqual(
    expect.arrayContaining([
      [2, 3],
      [3, 4],
      [4, null],
    ]),
  );
  expect(new Set(files.map(({ path }) => path)).size).toBe(files.length);
  expect(await missingFiles(pipeline.data)).toEqual([]);
});

it('paths are relative, and only the place where they begin is named: moved, it is given anew', async () => {
  expect(
    await askCatalog(
      pipeline.data,
      `SELECT value, (SELECT bool_and(path_is_relative AND NOT starts_with(path, '/')) FROM ducklake_data_file) AS relative FROM ducklake_metadata WHERE key = 'data_path'`,
    ),
  ).toEqual([{ value: `${pipeline.data.published}/`, relative: true }]);
});

it('its columns and comments are those of analytics.duckdb', async () => {
  const [lake] = await askCatalog<{ all: string[] }>(
    pipeline.data,
    `SELECT list(concat_ws('|', table_name, column_name, column_type, tag.value) ORDER BY table_name, column_order) AS all
     FROM ducklake_column AS c JOIN ducklake_table AS t USING (table_id)
     LEFT JOIN ducklake_column_tag AS tag ON tag.table_id = t.table_id AND tag.column_id = c.column_id
     WHERE parent_column IS NULL AND table_name <> 'click_events'`,
  );
  const ours = await pipeline.ask<{ text: string }>(
    `SELECT concat_ws('|', table_name, column_name, CASE data_type
       WHEN 'INTEGER' THEN 'int32' WHEN 'BIGINT' THEN 'int64' WHEN 'DOUBLE' THEN 'float64' WHEN 'VARCHAR[]' THEN 'list'
       WHEN 'TIMESTAMP WITH TIME ZONE' THEN 'timestamptz' ELSE lower(data_type) END, comment) AS text
     FROM duckdb_columns() WHERE NOT internal AND database_name <> 'temp' AND table_name <> 'clicks' ORDER BY table_name, column_index`,
  );
  expect(lake?.all).toEqual(ours.map(({ text }) => text));
  const tables = await askCatalog<{ value: string }>(pipeline.data, `SELECT value FROM ducklake_tag`);
  expect(tables.map(({ value }) => value)).toEqual(
    expect.arrayContaining(
      (
        await pipeline.ask<{ comment: string }>(
          'SELECT comment FROM duckdb_tables() UNION ALL SELECT comment FROM duckdb_views() WHERE NOT internal',
        )
      ).map(({ comment }) => comment),
    ),
  );
});

it('is read-only, has no log beside it, and is written again where it is gone, by a refresh with nothing new', async () => {
  const { lakeFile, published } = pipeline.data;
  expect(statSync(lakeFile).mode & 0o777).toBe(0o444);
  const before = await askCatalog(pipeline.data, 'FROM ducklake_data_file ORDER BY data_file_id');
  rmSync(lakeFile);
  expect(await pipeline.refresh(asOf())).toMatchObject({ snapshotId: null });
  expect(await askCatalog(pipeline.data, 'FROM ducklake_data_file ORDER BY data_file_id')).toEqual(before);
  expect((await readdir(published)).filter((name) => name.startsWith('offerline'))).toEqual(['offerline.ducklake']);
});

/** Effects that call `at` with the name of each step of the lake, the switch and retention before it is done. */
function watched(at: (step: string) => void): Effects {
  const look = (step: string) => {
    if (/^(lake|current link|old snapshot)\b/.test(step)) at(step);
  };
  const { files } = realEffects;
  return {
    now: () => Date.parse(asOf()),
    perform: async (step, work) => {
      look(step);
      return work();
    },
    files: {
      ...files,
      rename: async (from, to, step) => {
        look(step);
        await files.rename(from, to, step);
      },
      remove: async (path, step) => {
        look(step);
        await files.remove(path, step);
      },
      copyFile: async (from, to, step) => {
        look(step);
        await files.copyFile(from, to, step);
      },
      syncFile: async (path, step) => {
        look(step);
        await files.syncFile(path, step);
      },
    },
  };
}

it('is in place before current is switched, and before a snapshot goes that it named', slow, async () => {
  const steps: string[] = [];
  const { data } = pipeline;
  await landNext();
  await refresh(
    { data, terminal, asOf: asOf() },
    watched((step) => steps.push(step)),
  );
  expect(steps).toEqual([
    'lake: leftover removed',
    'lake: schema copied',
    'lake: written',
    'lake: fsynced',
    'lake: renamed',
    'current link: leftover removed',
    'current link: switched',
    'old snapshot: renamed',
    'old snapshot: removed',
  ]);
  expect(await missingFiles(data)).toEqual([]);
});

it('broken off at any step, the one before stays as it was', async () => {
  const { data } = pipeline;
  const names = await snapshotNames(data);
  const before = await askCatalog(data, 'FROM ducklake_data_file ORDER BY data_file_id');
  rmSync(data.lakeSchema, { recursive: true });
  for (const broken of [
    'lake: leftover removed',
    'lake: schema written',
    'lake: schema renamed',
    'lake: schema copied',
    'lake: written',
    'lake: fsynced',
    'lake: renamed',
  ]) {
    const effects = watched((step) => {
      if (step === broken) throw Object.assign(new Error('made to fail'), { code: 'EIO' });
    });
    await expect(writeLake(data, names.slice(1), effects)).rejects.toThrow('made to fail');
    expect(await askCatalog(data, 'FROM ducklake_data_file ORDER BY data_file_id')).toEqual(before);
  }
  await writeLake(data, names.slice(1), realEffects);
  expect(await askCatalog(data, 'SELECT snapshot_id FROM ducklake_snapshot')).toHaveLength(2);
  await writeLake(data, [], realEffects);
  expect((await readdir(data.published)).filter((name) => name.startsWith('offerline'))).toEqual([]);
});

/** All rows of all tables of the catalog, and how the tables are made. */
function wholeCatalog(): Promise<unknown> {
  return withDuckDB(inMemory, {}, async (connection) => {
    await connection.run(`ATTACH '${pipeline.data.lakeFile}' AS lake (READ_ONLY); USE lake`);
    const catalog: unknown[] = [];
    for (const table of await queryRows<{ table_name: string }>(
      connection,
      'SELECT table_name, sql FROM duckdb_tables() ORDER BY table_name',
    ))
      catalog.push({ ...table, rows: await queryRows(connection, `FROM ${table.table_name} ORDER BY ALL`) });
    return catalog;
  });
}

it('after many publishes it is what one is that is built from nothing', slow, async () => {
  const { data } = pipeline;
  for (let round = 0; round < 3; round++) await next();
  const [schema, ...others] = await readdir(data.lakeSchema);
  expect(others).toEqual([]);
  const grown = await wholeCatalog();
  rmSync(data.lakeSchema, { recursive: true });
  await writeLake(data, await snapshotNames(data), realEffects);
  expect(await wholeCatalog()).toEqual(grown);
  expect(await readdir(data.lakeSchema)).toEqual([schema]);

  // What another version has left, or a disk has damaged, is replaced.
  renameSync(join(data.lakeSchema, schema ?? ''), join(data.lakeSchema, 'of-another-version.duckdb'));
  await writeLake(data, await snapshotNames(data), realEffects);
  expect(await readdir(data.lakeSchema)).toEqual([schema]);
  truncateSync(join(data.lakeSchema, schema ?? ''), 50_000);
  await expect(writeLake(data, await snapshotNames(data), realEffects)).rejects.toThrow();
  await writeLake(data, await snapshotNames(data), realEffects);
  expect(await wholeCatalog()).toEqual(grown);
});

it('leaves out a snapshot with a file that is gone or shorter', slow, async () => {
  const [, oldest] = await snapshotNames(pipeline.data);
  rmSync(join(pipeline.data.published, oldest ?? '', 'tables', 'runs.parquet'));
  await next();
  const { current } = await pipeline.snapshots();
  const named = await askCatalog<{ commit_message: string }>(pipeline.data, 'FROM ducklake_snapshot_changes');
  expect(named.map(({ commit_message }) => commit_message)).toContain(current);
  expect(named.map(({ commit_message }) => commit_message)).not.toContain(oldest);
  expect(await missingFiles(pipeline.data)).toEqual([]);
});
