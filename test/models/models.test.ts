import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { csvRecords } from '../../src/text/csv.ts';
import { modelsStage } from '../../src/models/models-stage.ts';
import { LogLanding } from '../support/log-landing.ts';
import { testRun } from '../test-run.ts';

/** After all that lands. */
const wallClock = '2026-03-11T00:00:00Z';

/** `case.json` of a folder: what it shows, and the runs with what lands before each. */
const caseSchema = z.strictObject({
  about: z.string(),
  runs: z.array(z.strictObject({ as_of: z.string(), landing: z.string() })).min(1),
});

const folders = (await readdir(import.meta.dirname, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name).toSorted();
const cases = await Promise.all(folders.map(async (folder) => ({ folder, ...caseSchema.parse(JSON.parse(await readFile(join(import.meta.dirname, folder, 'case.json'), 'utf8'))) })));

it.each(cases)('$folder: $about', async ({ folder, runs }) => {
  await using landing = await LogLanding.create();
  for (const { as_of: asOf, landing: landed } of runs) {
    await cp(join(import.meta.dirname, folder, landed), landing.data.landing, { recursive: true });
    await landing.ingest({ asOf, wallClock });
    await modelsStage.run(testRun(landing.data, { asOf, wallClock }), landing.state);
  }
  const file = join(import.meta.dirname, folder, 'expected.csv');
  const [columns = [], ...expected] = [...csvRecords(await readFile(file, 'utf8'), file)].map(({ cells }) => cells);
  const figures = await landing.query<Record<string, string | number | null>>(`SELECT ${columns.join(', ')} FROM offer_stats_2d ORDER BY offer_id`);
  expect(figures.map((row) => columns.map((column) => String(row[column] ?? '')))).toEqual(expected);
  expect(await landing.rejects()).toEqual([]);
});
