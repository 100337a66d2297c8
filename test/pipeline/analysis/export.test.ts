import { readFile, readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { asOf, smallData } from '../../e2e/small-data.ts';
import { offerline } from '../../support/command-line.ts';
import { command, usageErrorOf } from '../../support/commands.ts';
import type { PipelineUnderTest } from '../../support/pipeline-under-test.ts';

let pipeline: PipelineUnderTest;
let root: string;
beforeAll(async () => {
  pipeline = await smallData();
  root = pipeline.data.root;
  await pipeline.refresh(asOf);
});
afterAll(() => pipeline[Symbol.asyncDispose]());

it('copies a table or view to a file, whole, as Parquet and as CSV', async () => {
  const parquet = join(root, 'clicks.parquet');
  const { current } = await pipeline.snapshots();
  expect(
    JSON.parse(await command(root, 'export', 'clicks', '--format', 'parquet', '--out', parquet, '--json')),
  ).toEqual({ snapshot_id: current, as_of: asOf, table: 'clicks', rows: 20, file: parquet });
  expect(
    await pipeline.ask(`SELECT count(*) AS rows FROM (FROM read_parquet('${parquet}') EXCEPT FROM clicks)`),
  ).toEqual([{ rows: 0 }]);

  const csv = join(root, 'offers.csv');
  await command(root, 'export', 'offers', '--format', 'csv', '--out', csv);
  const [header, ...rows] = (await readFile(csv, 'utf8')).trimEnd().split('\n');
  expect(header).toMatch(/^offer_id,source,external_id,status,title,/);
  expect(rows.map((row) => row.split(',').slice(0, 5))).toEqual([
    ['1', 'net', 'one', 'active', 'One'],
    ['2', 'net', 'two', 'active', 'Two'],
  ]);
});

it('prints to standard output where that is asked for, and nothing else', async () => {
  const { code, stdout } = await offerline(root, 'export', 'offer_hourly', '--format', 'csv', '--out', '-');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout:
      'offer_id,hour,clicks,conversions,earnings\n1,2025-03-10T09:00:00.000000Z,10,0,0.000000\n2,2025-03-10T09:00:00.000000Z,10,0,0.000000\n2,2025-03-10T10:00:00.000000Z,0,1,0.250000\n',
  });
});

it.each([
  ['export', ['clicks', '--format', 'csv']],
  ['export', ['--whole']],
  ['reconcile', ['--site', 'site-1', '--file', 'list.csv']],
])('%s %j takes the place of no folder, device or pipe', async (name, words) => {
  // Links, since root would replace the device itself.
  const link = join(root, 'link');
  for (const [target, problem] of [
    [root, 'is a folder: name a file in it'],
    ['/dev/null', 'is no regular file, and would be replaced by one: name another place'],
  ] as const) {
    await symlink(target, link);
    onTestFinished(() => rm(link, { force: true }));
    expect(await usageErrorOf(root, name, ...words, '--out', link)).toBe(`--out ${link} ${problem}`);
    await rm(link);
  }
});

it('says what is wrong and leaves nothing half-written', async () => {
  expect(await usageErrorOf(root, 'export', 'clicsk', '--format', 'csv', '--out', join(root, 'x.csv'))).toMatch(
    /no table "clicsk"; it has clicks, conversions, /,
  );
  expect(await usageErrorOf(root, 'export', 'clicks', '--format', 'csv', '--out', '-', '--json')).toContain(
    'name a file',
  );
  expect(await usageErrorOf(root, 'export', '--whole', '--out', root)).toBe(
    `--out ${root} is a folder: name a file in it`,
  );
  await expect(
    command(root, 'export', 'clicks', '--format', 'csv', '--out', join(root, 'no-such-folder', 'x.csv')),
  ).rejects.toThrow('clicks could not be exported');
  expect((await readdir(root)).filter((name) => name.includes('.part') || name.startsWith('x.csv'))).toEqual([]);
});
