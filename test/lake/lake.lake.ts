import { execFile } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { queryRows } from '../../src/kit/duckdb/dialect/rows.ts';
import { inMemory, withDuckDB } from '../../src/kit/duckdb/open.ts';
import { snapshotNames } from '../../src/pipeline/snapshot/snapshot-store.ts';
import { command } from '../support/commands.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { missingFiles } from '../support/lake.ts';
import { killedRefresh } from '../fault/lives/killed-refresh.ts';
import { askSnapshot, digest, digestsOf, lakeDigests, tablesOf } from './digests.ts';
import { askDuckLake, DuckLakeSession } from './duckdb-with-ducklake.ts';
import { serveFiles } from './static-server.ts';

const polars = process.env['OFFERLINE_TEST_POLARS'] ?? '';

let pipeline: PipelineUnderTest;
/** Names of the kept snapshots, the oldest first: they have the numbers 2, 3 and 4 in the lake. */
let names: string[];
let tables: string[];
beforeAll(async () => {
  pipeline = await PipelineUnderTest.bare(new Date('2026-03-10T16:00:00Z'));
  const network = ['--clicks', '3000', '--days', '3', '--seed', '7', '--end', '2026-03-10T16:00:00Z'];
  await command(pipeline.data.root, 'generate', '--out', pipeline.data.root, ...network);
  await pipeline.configure({ snapshots_kept: 3, snapshots_kept_hours: 0 });
  for (const hour of [12, 13, 14, 15]) await pipeline.refresh(`2026-03-10T${hour}:00:00Z`);
  names = await snapshotNames(pipeline.data);
  tables = await tablesOf(folderOf(names[0]));
});
afterAll(() => pipeline[Symbol.asyncDispose]());

const attach = (options = '') => `ATTACH 'ducklake:${pipeline.data.lakeFile}' AS lake (READ_ONLY${options})`;
const folderOf = (name = '') => join(pipeline.data.published, name);

it('every table of every kept snapshot is that of its analytics.duckdb', async () => {
  expect([names.length, tables.length]).toEqual([3, 25]);
  for (const [index, name] of names.entries())
    expect(
      await lakeDigests(
        [attach()],
        tables.map((table) => `lake.${table} AT (VERSION => ${index + 2})`),
      ),
      name,
    ).toEqual(await digestsOf(folderOf(name), tables));
});

it('its macros are those of the newest snapshot, or of the one that is attached', async () => {
  const macros = [
    'figures_by_site()',
    'figures_explained(101)',
    'figures_explained(101, newest := 2)',
    'postbacks_by_site()',
    'figures_by_country()',
    'figures_by_country(days := 2)',
    'figures_by_click_day(2)',
    'reversals_by_source(days := 400)',
  ];
  expect(await lakeDigests([attach(), 'USE lake'], macros)).toEqual(await digestsOf(folderOf(names.at(-1)), macros));
  expect(await lakeDigests([attach(', SNAPSHOT_VERSION 2'), 'USE lake'], macros)).toEqual(
    await digestsOf(folderOf(names[0]), macros),
  );
});

it('each column has its least and greatest value and its nulls, and rows are found by them: no statistics mislead', async () => {
  const columns = await askSnapshot<{ table: string; column: string }>(folderOf(names.at(-1)), [
    `SELECT table_name AS "table", column_name AS "column" FROM duckdb_columns() WHERE NOT internal ORDER BY ALL`,
  ]);
  const queries = (place: string) =>
    columns.map(
      ({ table, column }) =>
        `SELECT min(${column})::VARCHAR AS a, max(${column})::VARCHAR AS b, count(${column})::INTEGER AS c,
           (SELECT count(*)::INTEGER FROM ${place}${table} WHERE ${column} = (SELECT max(${column}) FROM ${place}${table})) AS d,
           (SELECT count(*)::INTEGER FROM ${place}${table} WHERE ${column} IS NULL) AS e FROM ${place}${table}`,
    );
  const ours = await askSnapshot<object>(folderOf(names.at(-1)), queries(''));
  const [, ...theirs] = await askDuckLake(attach(), ...queries('lake.'));
  expect(theirs.map(({ rows }) => rows[0])).toEqual(ours.map((row) => Object.values(row)));
});

it('two moments are joined in one statement, by number or by as-of', async () => {
  const moved = (before: string, after: string) =>
    `SELECT count(*)::INTEGER AS offers, count(*) FILTER (one.epc <> other.epc)::INTEGER AS moved, sum(other.conversions - one.conversions)::VARCHAR AS more
     FROM ${before} JOIN ${after} USING (offer_id)`;
  const [, byNumber, byTime] = await askDuckLake(
    attach(),
    moved('lake.offer_stats_2d AS one AT (VERSION => 2)', 'lake.offer_stats_2d AS other'),
    moved(
      `lake.offer_stats_2d AS one AT (TIMESTAMP => TIMESTAMPTZ '2026-03-10 13:59:00Z')`,
      'lake.offer_stats_2d AS other',
    ),
  );
  const ours = await withDuckDB(inMemory, {}, async (connection) => {
    for (const [as, name] of [
      ['one', names[0]],
      ['other', names.at(-1)],
    ])
      await connection.run(`ATTACH '${pipeline.data.published}/${name}/analytics.duckdb' AS ${as} (READ_ONLY)`);
    return queryRows(connection, moved('one.offer_stats_2d AS one', 'other.offer_stats_2d AS other'));
  });
  expect(ours).not.toEqual([expect.objectContaining({ moved: 0 })]);
  expect(byNumber?.rows).toEqual(ours.map((row) => Object.values(row)));
  expect(byTime?.rows).toEqual(byNumber?.rows);
});

it('copied, read-only and with the place of the copy, it answers alike, and so over plain HTTP', async () => {
  const relations = tables.map((table) => `lake.${table}`);
  const here = await lakeDigests([attach()], relations);
  const copy = join(pipeline.data.root, "else [where] it's");
  mkdirSync(copy);
  cpSync(pipeline.data.published, copy, { recursive: true, dereference: false });
  for (const name of readdirSync(copy, { recursive: true, encoding: 'utf8' }))
    if (basename(name) !== 'current') chmodSync(join(copy, name), 0o555);
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  // As on another machine: nothing is where it was published.
  renameSync(pipeline.data.published, `${pipeline.data.published}-away`);
  onTestFinished(() => renameSync(`${pipeline.data.published}-away`, pipeline.data.published));
  const place = copy.replaceAll("'", "''");
  const elsewhere = (at: string) =>
    `ATTACH 'ducklake:${at}/offerline.ducklake' AS lake (READ_ONLY, DATA_PATH '${at}/', OVERRIDE_DATA_PATH true)`;
  expect(await lakeDigests([elsewhere(place)], relations)).toEqual(here);
  await expect(
    lakeDigests([`ATTACH 'ducklake:${place}/offerline.ducklake' AS lake (READ_ONLY)`], relations),
  ).rejects.toThrow('No such file');

  await using server = await serveFiles(copy);
  expect(await lakeDigests([elsewhere(server.url)], relations)).toEqual(here);
  const before = server.requests;
  const [attached, counted] = await askDuckLake(elsewhere(server.url), 'SELECT count(*)::INTEGER FROM lake.clicks');
  expect(counted?.rows).toEqual([[3000]]);
  process.stderr.write(
    `over HTTP: attached in ${attached?.ms.toFixed()} ms, clicks counted in ${counted?.ms.toFixed()} ms, ${server.requests - before} requests\n`,
  );
});

it('Polars reads every table of every kept snapshot, without the extension', async () => {
  const stored = [...tables.filter((table) => table !== 'clicks'), 'click_events'];
  const asked = names.flatMap((_, index) => stored.map((table) => `${table}@${index + 2}`));
  const { stdout } = await promisify(execFile)(
    polars,
    [fileURLToPath(new URL('read.py', import.meta.url)), pipeline.data.lakeFile, ...asked],
    { maxBuffer: 2 ** 24 },
  );
  const read = JSON.parse(stdout) as Record<string, { rows: number; columns: Record<string, unknown[]> }>;
  await using session = new DuckLakeSession();
  await session.ask(attach());
  for (const one of asked) {
    const [table, version] = one.split('@');
    const { rows: columns } = await session.ask(`DESCRIBE lake.${table}`);
    const cells = columns.map(([name, type]) => {
      const isList = String(type).endsWith('[]');
      const isNumber = /^(DECIMAL|INTEGER|BIGINT)/.test(String(type)) && !isList;
      return `[count(${name})::VARCHAR, ${isList ? 'NULL' : `count(DISTINCT ${name})::VARCHAR`}, ${isNumber ? `coalesce(sum(${name}), 0)::VARCHAR` : 'NULL'}]`;
    });
    const { rows } = await session.ask(
      `SELECT count(*)::INTEGER, ${cells.join(', ')} FROM lake.${table} AT (VERSION => ${version})`,
    );
    const text = (value: unknown) =>
      typeof value === 'string' || typeof value === 'number' ? `${value}`.replace(/\.0+$/, '') : null;
    expect([read[one]?.rows, ...Object.values(read[one]?.columns ?? {}).map((cell) => cell.map(text))], one).toEqual(
      rows[0]?.map((cell) => (Array.isArray(cell) ? (cell as unknown[]).map(text) : cell)),
    );
  }
});

it('DuckDB 2.0 opens a snapshot, and the lake where its extension can be had', async () => {
  const relations = [...tables, 'figures_by_site()', 'figures_by_country()', 'reversals_by_source()'];
  await using session = new DuckLakeSession(polars);
  const { rows } = await session.ask('SELECT version()');
  await session.ask(`ATTACH '${folderOf(names.at(-1))}/analytics.duckdb' AS network (READ_ONLY)`);
  for (const [index, expected] of (await digestsOf(folderOf(names.at(-1)), relations)).entries())
    expect((await session.ask(digest(`network.${relations[index]}`))).rows, relations[index]).toEqual([expected]);
  const isThere = await session.ask('INSTALL ducklake; LOAD ducklake').then(
    () => true,
    () => false,
  );
  process.stderr.write(
    `DuckDB ${String(rows[0]?.[0])}: its ducklake ${isThere ? 'is read by' : 'cannot be had here'}\n`,
  );
  if (!isThere) return;
  await session.ask(attach());
  for (const [index, expected] of (await digestsOf(folderOf(names.at(-1)), tables)).entries())
    expect((await session.ask(digest(`lake.${tables[index]}`))).rows, tables[index]).toEqual([expected]);
});

it('is attached within 100 ms, and says whose snapshots it has', async () => {
  const [attached, snapshots, comments] = await askDuckLake(
    attach(),
    `SELECT snapshot_id, author, commit_message, snapshot_time::VARCHAR FROM lake.snapshots() ORDER BY snapshot_id`,
    `SELECT count(*)::INTEGER, count(comment)::INTEGER FROM duckdb_columns() WHERE database_name = 'lake' AND table_name NOT IN ('clicks', 'click_events')`,
  );
  process.stderr.write(`attached in ${attached?.ms.toFixed()} ms\n`);
  expect(attached?.ms).toBeLessThan(100);
  expect(snapshots?.rows).toEqual(
    names.map((name, index) => [index + 2, 'offerline', name, `2026-03-10 ${13 + index}:00:00+00`]),
  );
  const [[all, meant] = []] = comments?.rows ?? [];
  expect(all).toBeGreaterThan(200);
  expect(meant).toBe(all);
});

it('killed within a publish, it can be read to its last file, and the next publish is in it', async () => {
  const relations = tables.map((table) => `lake.${table}`);
  const before = await lakeDigests([attach()], relations);
  const kills = [
    { step: 'lake: renamed', occurrence: 1, moment: 'after' },
    { step: 'current link: switched', occurrence: 1, moment: 'before' },
    { step: 'old snapshot: removed', occurrence: 1, moment: 'before' },
  ] as const;
  for (const [index, killAt] of kills.entries()) {
    const asOf = `2026-03-10T15:${index + 1}0:00Z`;
    const { root } = pipeline.data;
    const died = await killedRefresh({ pipeline: 'refresh', root, asOf, wallClock: Date.parse(asOf), killAt });
    expect(died.signal, died.told).toBe('SIGKILL');
    expect(await missingFiles(pipeline.data)).toEqual([]);
    const counts = await askDuckLake(
      attach(),
      ...relations.map((name) => `SELECT count(*), any_value(t::VARCHAR) FROM ${name} AS t`),
    );
    expect(counts).toHaveLength(1 + before.length);
  }
  await pipeline.refresh('2026-03-10T16:00:00Z');
  const current = (await pipeline.snapshots()).current;
  expect(await lakeDigests([attach()], relations)).toEqual(await digestsOf(folderOf(current), tables));
});

it('a session goes on with what it has attached while newer snapshots are published, and its oldest are retired', async () => {
  await using session = new DuckLakeSession();
  await session.ask(attach());
  const sums =
    'SELECT (SELECT sum(epc) FROM lake.offer_stats_2d), (SELECT count(*) FROM lake.clicks WHERE device IS NULL), (SELECT max(run_id) FROM lake.runs)';
  const before = await session.ask(sums);
  for (const minute of [10, 20]) await pipeline.refresh(`2026-03-10T16:${minute}:00Z`);
  expect((await session.ask(sums)).rows).toEqual(before.rows);
  await session.ask('DETACH lake');
  await session.ask(attach());
  expect((await session.ask(sums)).rows).not.toEqual(before.rows);
});
