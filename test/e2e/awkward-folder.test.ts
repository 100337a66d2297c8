import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DataDirectory } from '../../src/kit/config/data-directory.ts';
import type { LandingRow } from '../support/log-files.ts';
import { command, usageErrorOf } from '../support/commands.ts';
import { serviceForTest } from '../support/running-service.ts';
import { asOf, clicks, secrets, smallData } from './small-data.ts';
import { slow } from '../support/slow.ts';

/** Whatever a file system allows and SQL, patterns, addresses or a shell would read as something else. */
const awkward = `it's a "folder" [a-c] [!x] *b* **; #1 %41 %s {x,y} \\ \\n $HOME \`id\` ~ & | <ü> 😀\n--`;

it('takes a data directory through its life, whatever its name', slow, async () => {
  await using pipeline = await smallData();
  const root = join(pipeline.data.root, awkward, 'data');
  const data = new DataDirectory(root);
  await mkdir(root, { recursive: true });
  await writeFile(
    data.sitesFile,
    JSON.stringify({ sites: [{ site_key: 'site-1', site_secret: secrets[0], variant: 'A' }] }),
  );
  await rename(pipeline.data.settingsFile, data.settingsFile);
  await rename(pipeline.data.landing, data.landing);
  // Files themselves may be named like that, but for backslashes and control characters.
  const name = awkward.replaceAll(/[\\\n]/g, '');
  const landClicks = async (path: string, ...rows: LandingRow[]) => {
    await mkdir(join(data.landing, 'clicks', path, '..'), { recursive: true });
    await writeFile(join(data.landing, 'clicks', path), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  };
  await landClicks(`${awkward}/${name}.ndjson`, ...clicks('awkward', 1, '2025-03-09T09:00:00Z'));

  const run = async (...words: string[]) => JSON.parse(await command(root, ...words, '--json')) as Record<string, any>;
  const countOf = async (query: string) =>
    (await run('sql', `SELECT count(*) AS rows FROM ${query}`))['rows'][0].rows as number;

  const { snapshotId: first } = await run('run', 'refresh', '--as-of', asOf);
  expect(await countOf('clicks')).toBe(21);
  expect(await countOf('figures_explained(2) WHERE in_conversions')).toBe(1);
  expect(await countOf("ingest_files WHERE status = 'loaded'")).toBe(4);

  const csv = join(root, `${awkward}.csv`);
  expect(await run('export', 'clicks', '--format', 'csv', '--out', csv)).toMatchObject({ rows: 21 });
  expect((await readFile(csv, 'utf8')).split('\n')).toHaveLength(23);

  const running = await serviceForTest(data);
  expect((await running.get('/readyz')).status).toBe(200);
  const lookup = '/a/api/click-lookup?site_key=site-1&click_id=';
  expect(await running.json(`${lookup}first-1`)).toMatchObject({
    click: { offer_id: 2 },
    conversions: [{ status: 'credited' }],
  });

  await landClicks('more.ndjson', ...clicks('more', 3, '2025-03-10T12:30:00Z'));
  await run('run', 'refresh', '--as-of', '2025-03-12T13:00:00Z');
  await running.service.poll();
  expect(await running.json(`${lookup}more-1`)).toMatchObject({ click: { user_id: 'u1' } });
  expect(await running.json(`${lookup}awkward-0`)).toMatchObject({ click: { user_id: 'u0' } });
  expect((await run('diff', first as string, 'current'))['figures']).not.toEqual([]);

  expect(await run('run', 'maintenance', '--as-of', '2025-03-20T13:00:00Z')).toMatchObject({ compacted: { days: 3 } });
  await run('run', 'refresh', '--as-of', '2025-03-20T13:00:00Z');
  expect((await run('backfill', 'reports', '--all'))['reports']).toHaveLength(4);
  await run('rebuild', '--from-landing');
  expect(await countOf('clicks')).toBe(24);
  expect(await run('doctor', '--deep')).toMatchObject({ left: 0 });
  expect((await run('maintenance', 'landing', '--older-than', '1'))['files']).toEqual([]);
});

it('refuses a path that is too long for a lock or a store in it', async () => {
  const root = join(tmpdir(), ...Array.from({ length: 18 }, () => 'd'.repeat(200)));
  expect(await usageErrorOf(root, 'status')).toMatch(
    /^the path of the data directory has \d{4} bytes, and at most 420 leave room for a database in it: .* or choose a shorter one$/,
  );
  expect(await usageErrorOf(root, 'start', '--demo')).toContain('at most 420');
});

it('refuses a path with a question mark, where a database would lose its log', async () => {
  await using pipeline = await smallData();
  const root = join(pipeline.data.root, 'why?', 'data');
  expect(await usageErrorOf(root, 'start', '--demo')).toContain('has a question mark');
  expect(await usageErrorOf(root, 'generate', '--out', root)).toContain('has a question mark');
});
