import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { defaultSettings } from '../../../src/kit/config/settings.ts';
import { openStateDatabase } from '../../../src/pipeline/warehouse/database.ts';
import { invalidateAllMarts, invalidateMarts, markReports } from '../../../src/pipeline/warehouse/dirty-partitions.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const owner = 'src/pipeline/warehouse/dirty-partitions.ts';
/** The tables of marks, and the keys of the metadata that says what the marts were computed from. */
const markNames = /\b(dirty_days|outdated_reports|dirty_postback_days|marts_revision|marts_as_of)\b/;

const sources = ['src', 'pipelines']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  .filter((name) => name.endsWith('.ts'));

it('only one file knows how it is kept what is stale', () => {
  const naming = sources.filter((name) =>
    markNames.test(readFileSync(join(root, name), 'utf8').replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '')),
  );
  // Beside it the types of the tables, which are generated.
  expect(naming.toSorted()).toEqual([owner, 'src/pipeline/warehouse/tables.ts']);
});

/** A state in which a backfill computed the report of a day in run 11, and run 12 brought clicks of that day. */
async function stateWithStagedReport() {
  const data = new DataDirectory(await mkdtemp(join(tmpdir(), 'offerline-stale-')));
  onTestFinished(() => rm(data.root, { recursive: true }));
  const state = await openStateDatabase(data, defaultSettings);
  onTestFinished(() => state.close());
  const { connection, db } = state;
  const file = { rows: 1, bytes: 1, sha256: 'x' };
  const ofDay = { day: '2026-03-09', as_of: '2026-03-09T23:59:59.999999Z' };
  await db
    .insertInto('mart_files')
    .values({ mart: 'report_daily', path: 'marts/a.parquet', run_id: 10, ...ofDay, ...file })
    .execute();
  await db
    .insertInto('staged_reports')
    .values({ path: 'marts/b.parquet', run_id: 11, ...ofDay, ...file })
    .execute();
  await markReports(connection, 'clicks', 12, "SELECT DATE '2026-03-09' AS day");
  const staged = async () => (await db.selectFrom('staged_reports').select('day').execute()).length;
  const marks = () => db.selectFrom('outdated_reports').select(['day', 'cause', 'run_id']).execute();
  return { connection, staged, marks };
}
const newest = [{ day: '2026-03-09', cause: 'clicks', run_id: 12 }];

it('a mark keeps the latest run that found its cause', async () => {
  const { connection, marks } = await stateWithStagedReport();
  await markReports(connection, 'clicks', 0, "SELECT DATE '2026-03-09' AS day");
  expect(await marks()).toEqual(newest);
  await markReports(connection, 'clicks', 13, "SELECT DATE '2026-03-09' AS day");
  expect(await marks()).toEqual([{ ...newest[0], run_id: 13 }]);
});

it('a lost report is not replaced by one that was computed before the newest clicks of its day', async () => {
  const { connection, staged, marks } = await stateWithStagedReport();
  await invalidateMarts(connection, [
    {
      table: 'mart_files',
      group: 'report_daily',
      day: '2026-03-09',
      path: 'marts/a.parquet',
      bytes: 1,
      sha256: 'x',
    },
  ]);
  expect([await staged(), await marks()]).toEqual([0, newest]);
});

it('nothing that was computed before logs are read again is put into force after it', async () => {
  const { connection, staged, marks } = await stateWithStagedReport();
  await invalidateAllMarts(connection);
  expect([await staged(), await marks()]).toEqual([0, newest]);
});
