import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { noNames } from '../../../src/kit/intake/reading/json-shape.ts';
import { RecordReader } from '../../../src/kit/intake/reading/record-reader.ts';
import { RecordList } from '../../../src/kit/intake/reading/record-sink.ts';
import { modelsStage } from '../../../src/pipeline/models/models-stage.ts';
import { quotedPathList } from '../../../src/kit/text/sql-text.ts';
import { LogLanding } from '../../support/log-landing.ts';
import { testRun } from '../../test-run.ts';
import { slow } from '../../support/slow.ts';

/** After all that lands. */
const wallClock = '2026-03-11T00:00:00Z';

/** `case.json` of a folder: what it shows, and the runs with what lands before each. */
const caseSchema = z.strictObject({
  about: z.string(),
  runs: z.array(z.strictObject({ as_of: z.string(), landing: z.string() })).min(1),
});

const folders = (await readdir(import.meta.dirname, { withFileTypes: true }))
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .toSorted();
const cases = await Promise.all(
  folders.map(async (folder) => ({
    folder,
    ...caseSchema.parse(JSON.parse(await readFile(join(import.meta.dirname, folder, 'case.json'), 'utf8'))),
  })),
);

/** `expected.csv` has the figures, `expected-<mart>.csv` the mart or the table of the state. */
async function relationOf(landing: LogLanding, file: string): Promise<string> {
  const name = /^expected-(\w+)\.csv$/.exec(file)?.[1] ?? 'offer_stats_2d';
  if (name !== 'offer_daily') return name;
  const files = await landing.query<{ path: string }>(`SELECT path FROM mart_files WHERE mart = '${name}'`);
  return `read_parquet(${quotedPathList(files.map(({ path }) => join(landing.data.warehouse, path)))}, hive_partitioning = false)`;
}

it.each(cases)('$folder: $about', slow, async ({ folder, runs }) => {
  await using landing = await LogLanding.create();
  for (const { as_of: asOf, landing: landed } of runs) {
    await cp(join(import.meta.dirname, folder, landed), landing.data.landing, { recursive: true });
    await landing.ingest({ asOf, wallClock });
    await modelsStage.run(testRun(landing.data, { asOf, wallClock }), landing.state);
  }
  for (const name of (await readdir(join(import.meta.dirname, folder))).filter((each) => each.endsWith('.csv'))) {
    const { columns, rows: expected } = tableOf(await readFile(join(import.meta.dirname, folder, name)));
    const rows = await landing.query<Record<string, string | number | null>>(
      `SELECT ${columns.join(', ')} FROM ${await relationOf(landing, name)} ORDER BY ALL`,
    );
    expect(
      rows.map((row) => columns.map((column) => String(row[column] ?? ''))),
      name,
    ).toEqual(expected);
  }
  expect(await landing.rejects()).toEqual([]);
});

/** A table of CSV with the names of its columns; an absent value is an empty text. */
function tableOf(bytes: Buffer): { columns: string[]; rows: string[][] } {
  const list = new RecordList(2 ** 20);
  const reader = new RecordReader(list, { settings: {}, names: noNames, isWhole: true });
  reader.take(bytes);
  const { firstRow, columns } = reader.finish();
  const records = list.records(firstRow).map(({ text }) => JSON.parse(text) as Record<string, string | null>);
  return { columns: columns ?? [], rows: records.map((record) => Object.values(record).map((value) => value ?? '')) };
}
