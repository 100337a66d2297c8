import { DuckDBInstance } from '@duckdb/node-api';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { maintenance } from '../../../pipelines/maintenance.ts';
import { parseSettings } from '../../../src/kit/config/settings.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { compactStage } from '../../../src/pipeline/maintenance/compact-stage.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import type { Run } from '../../../src/pipeline/runs/stage.ts';
import { queryRows } from '../../../src/kit/duckdb/dialect/rows.ts';
import { troubleWithKeyRuns } from '../../../src/pipeline/warehouse/keys/upkeep.ts';
import { stateCopies } from '../../../src/pipeline/warehouse/state-copies.ts';
import { click, conversion, LogLanding } from '../../support/log-landing.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { testRun } from '../../test-run.ts';
import { slow } from '../../support/slow.ts';

const days = ['14', '15', '16', '17', '18'];
const details = { ip: '192.0.2.7', user_agent: 'browser', sub1: 'one', sub2: 'two', country: 'DE' };
const clickOf = (day: string, id: number) =>
  click(`c-${day}-${id}`, { clicked_at: `2026-11-${day}T10:00:00Z`, ...details });

/** Two event files of each day and log; as-of is noon of the 18th. */
async function twoFilesADay(): Promise<LogLanding> {
  const landing = await LogLanding.create();
  for (const round of [0, 1]) {
    await landing.put(
      `clicks/${round}.ndjson`,
      days.flatMap((day) => Array.from({ length: 30 }, (_, index) => clickOf(day, round * 30 + index))),
    );
    await landing.put(
      `conversions/${round}.ndjson`,
      days.map((day) =>
        conversion(`v-${day}-${round}`, { click_id: `c-${day}-0`, occurred_at: `2026-11-${day}T11:00:00Z` }),
      ),
    );
    await landing.ingest();
  }
  return landing;
}

let runId = 100;
function compact(landing: LogLanding, changes: Partial<Run> = {}) {
  return compactStage.run(testRun(landing.data, { runId: ++runId, ...changes }), landing.state);
}

/** The next run. */
async function sweep(landing: LogLanding): Promise<void> {
  await landing.ingest();
}

/** Returns the number of files of each day. */
async function filesByDay(landing: LogLanding, kind: string): Promise<Record<string, number>> {
  const folders = (await readdir(join(landing.data.events, kind))).toSorted();
  return Object.fromEntries(
    await Promise.all(
      folders.map(
        async (day) => [day.slice(-2), (await readdir(join(landing.data.events, kind, day))).length] as const,
      ),
    ),
  );
}

async function events(landing: LogLanding) {
  const columns = '* REPLACE (event_key::VARCHAR AS event_key)';
  return {
    clicks: await landing.events('clicks', columns),
    conversions: await landing.events('conversions', columns),
    roll: await landing.query('FROM click_hourly ORDER BY ALL'),
  };
}

const closed = { 14: 1, 15: 1, 16: 1 };

it('makes one file of each closed day, sorted by event key, with the same rows and columns', slow, async () => {
  await using landing = await twoFilesADay();
  const before = await events(landing);
  expect(await compact(landing)).toMatchObject({ days: 6, files: 12, rows: 3 * 62, left: 0 });
  await sweep(landing);
  for (const kind of ['clicks', 'conversions'])
    expect(await filesByDay(landing, kind)).toEqual({ ...closed, 17: 2, 18: 2 });
  expect(await events(landing)).toEqual(before);
  const [unsorted] = await landing.query<{ rows: number }>(
    `SELECT count(*) AS rows FROM (
       SELECT event_key, lag(event_key) OVER (PARTITION BY filename ORDER BY file_row_number) AS before
       FROM read_parquet('${landing.data.events}/*/*/*-sorted.parquet', filename = true, file_row_number = true)) WHERE event_key < before`,
  );
  expect(unsorted?.rows).toBe(0);
  expect(await compact(landing)).toMatchObject({ days: 0 });

  // Copies are still found out, and a late event goes into the day's one file.
  await landing.put('clicks/late.ndjson', [clickOf('15', 3), clickOf('15', 99)]);
  expect(await landing.ingest()).toMatchObject({ accepted: 1, duplicates: 1 });
  expect(await compact(landing)).toMatchObject({ days: 1, files: 2, rows: 61 });
  await sweep(landing);
  expect(await filesByDay(landing, 'clicks')).toEqual({ ...closed, 17: 2, 18: 2 });
});

it('does a bounded number of days a run, the oldest first', async () => {
  await using landing = await LogLanding.create();
  await landing.put(
    'clicks/a.ndjson',
    Array.from({ length: 13 }, (_, index) => clickOf(String(index + 1).padStart(2, '0'), 0)),
  );
  await landing.ingest();
  expect(await compact(landing)).toMatchObject({ days: 10, left: 3 });
  expect(await landing.query(`SELECT min(day)::VARCHAR AS day FROM event_files WHERE form IS NULL`)).toEqual([
    { day: '2026-11-11' },
  ]);
  expect(await compact(landing)).toMatchObject({ days: 3, left: 0 });
});

const failures = [
  ['writeFile', 1],
  ['syncFile', 1],
  ['syncFile', 2],
  ['rename', 1],
  ['rename', 2],
  ['syncDirectory', 1],
  ['syncDirectory', 2],
] as const;

it('interrupted anywhere it has every row once; the next runs sweep and end the work', slow, async () => {
  await using landing = await twoFilesADay();
  const before = await events(landing);
  for (const [operation, nth] of failures) {
    let calls = 0;
    const failing = (...words: [string, string, string]) =>
      ++calls === nth ? Promise.reject(new Error('killed here')) : realEffects.files[operation](...words);
    await expect(
      compact(landing, { effects: { ...realEffects, files: { ...realEffects.files, [operation]: failing } } }),
      `${operation} ${nth}`,
    ).rejects.toThrow('killed here');
    expect(await events(landing)).toEqual(before);
    await sweep(landing);
    expect(await events(landing)).toEqual(before);
  }
  await compact(landing);
  await sweep(landing);
  expect(await events(landing)).toEqual(before);
  for (const kind of ['clicks', 'conversions'])
    expect(await filesByDay(landing, kind)).toEqual({ ...closed, 17: 2, 18: 2 });
});

it('leaves a damaged file alone and names it', async () => {
  await using landing = await twoFilesADay();
  const folder = join(landing.data.events, 'clicks', 'dt=2026-11-14');
  const file = join(folder, (await readdir(folder)).toSorted()[1] as string);
  const bytes = await readFile(file);
  bytes[100] = (bytes[100] as number) ^ 1;
  await writeFile(file, bytes);
  await expect(compact(landing)).rejects.toThrow(file);
  expect(await filesByDay(landing, 'clicks')).toMatchObject({ 14: 2 });
});

it('retention empties the details of old clicks and keeps what counts and attributes', slow, async () => {
  await using landing = await twoFilesADay();
  const settings = parseSettings('{"retention": {"events": 3}}', 'offerline.json');
  const roll = (await events(landing)).roll;
  await compact(landing);
  expect(await compact(landing, { settings })).toMatchObject({ days: 1, rows: 60 });
  await sweep(landing);
  const counted = `substr(click_id, 3, 2) AS day, count(*) AS clicks, count(ip) + count(user_agent) + count(sub1) + count(sub2) AS details, count(country) AS countries`;
  expect(
    await landing.query(
      `SELECT ${counted} FROM read_parquet('${landing.data.events}/clicks/*/*.parquet', union_by_name = true) GROUP BY ALL ORDER BY day`,
    ),
  ).toEqual(days.map((day) => ({ day, clicks: 60, details: day === '14' ? 0 : 240, countries: 60 })));
  expect((await events(landing)).roll).toEqual(roll);
  expect(await compact(landing, { settings })).toMatchObject({ days: 0 });

  // A copy has the details still, and says nothing else.
  await landing.put('clicks/copy.ndjson', [clickOf('14', 3), clickOf('18', 3)]);
  await landing.put('clicks/other.ndjson', [
    { ...clickOf('14', 5), user_id: 'another' },
    { ...clickOf('18', 5), sub1: 'another' },
  ]);
  await landing.put('conversions/late.ndjson', [conversion('late', { click_id: 'c-14-7' })]);
  expect(await landing.ingest()).toMatchObject({ accepted: 1, duplicates: 4 });
  expect(
    await landing.query(`SELECT path, duplicates, conflicts FROM ingest_files WHERE duplicates > 0 ORDER BY path`),
  ).toEqual([
    { path: 'clicks/copy.ndjson', duplicates: 2, conflicts: 0 },
    { path: 'clicks/other.ndjson', duplicates: 2, conflicts: 2 },
  ]);
  expect(
    await landing.query(`SELECT offer_id, site_key, user_id FROM conversion_clicks WHERE click_id = 'c-14-7'`),
  ).toEqual([{ offer_id: 7, site_key: 's', user_id: 'u' }]);
});

it('as a pipeline publishes nothing, and the next snapshot has the same figures', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date('2026-11-18T13:00:00Z'), {
    settings: { retention: { runs: 5 } },
  });
  await pipeline.landOffers('net', [{ id: 7, external_id: 'e', title: 'Offer', payout: '1.5' }]);
  await pipeline.landLog(
    'clicks',
    'ndjson',
    days.map((day) => clickOf(day, 0)),
  );
  await pipeline.refresh('2026-11-18T12:00:00Z');
  await pipeline.landLog(
    'clicks',
    'ndjson',
    days.map((day) => clickOf(day, 1)),
  );
  await pipeline.refresh('2026-11-18T12:10:00Z');
  const [before, snapshots] = [await pipeline.figures('2026-11-18T12:10:00Z'), await pipeline.snapshots()];

  const silent = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
  const asOf = '2026-11-25T12:00:00Z';
  const result = await maintenance(
    { data: pipeline.data, terminal: silent, asOf },
    { ...realEffects, now: () => Date.parse(asOf) },
  );
  expect(result).toMatchObject({ compacted: { days: 5, files: 10 }, retained: { runs: 1, attempts: 0 } });
  expect(await pipeline.snapshots()).toEqual(snapshots);
  expect(await pipeline.figures('2026-11-18T12:10:00Z')).toEqual(before);
  // A recovery must not go back to a state that names files which are swept now.
  expect(await sortedFilesInCopy(pipeline)).toBe(5);
  await pipeline.refresh('2026-11-18T12:20:00Z');
  expect((await pipeline.figures('2026-11-18T12:20:00Z')).clicks).toEqual(before.clicks);
  expect(await readdir(join(pipeline.data.current, 'events', 'clicks'))).toHaveLength(5);
});

/** Returns the path of the newest copy of the state. */
async function sortedFilesInCopy({ data }: PipelineUnderTest): Promise<number> {
  const [copy] = await stateCopies(data);
  const instance = await DuckDBInstance.create(copy?.path, { access_mode: 'READ_ONLY' });
  try {
    const connection = await instance.connect();
    const [row] = await queryRows<{ files: number }>(
      connection,
      `SELECT count(*) AS files FROM event_files WHERE form = 'sorted'`,
    );
    connection.closeSync();
    return row?.files ?? 0;
  } finally {
    instance.closeSync();
  }
}

it('goes on where the keys of all events are gone, as after a takeover', slow, async () => {
  await using landing = await LogLanding.create();
  for (const day of days) {
    await landing.put(`clicks/${day}.ndjson`, [clickOf(day, 0)]);
    await landing.ingest();
  }
  await rm(landing.data.keys, { recursive: true });
  await compact(landing);
  expect(await troubleWithKeyRuns({ connection: landing.state.connection, data: landing.data }, 'clicks', true)).toBe(
    undefined,
  );
});
