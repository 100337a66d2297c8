import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { launcher } from '../../support/command-line.ts';
import { endOf } from '../../support/commands.ts';
import { ndjson } from '../../support/log-landing.ts';
import { asOf, clicks, smallData } from '../../e2e/small-data.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { sharedPipeline } from '../../support/shared-pipeline.ts';
import { slow } from '../../support/slow.ts';

const refreshed = sharedPipeline(async () => {
  const pipeline = await smallData();
  await pipeline.refresh(asOf);
  return pipeline;
});

const status = async (root: string) => {
  const { stdout, stderr, code } = await endOf(root, 'status');
  return { output: stdout + stderr, code };
};

it('a landing folder that is gone, or another one in its place, is reported, and status exits 1', slow, async () => {
  const pipeline = await refreshed();
  const { data } = pipeline;
  const before = await status(data.root);
  expect(before.output).not.toContain('mount it again');

  await rename(data.landing, `${data.landing}-away`);
  await pipeline.refresh('2025-03-10T12:05:00Z');
  const gone = await status(data.root);
  expect(gone).toMatchObject({
    code: 1,
    output: expect.stringContaining('landing does not exist: mount it again') as string,
  });
  expect((await endOf(data.root, 'doctor')).stdout).toContain('landing does not exist');

  // A mount point without its disk; the tracker lands its logs there.
  await mkdir(data.landing);
  await pipeline.landLog('clicks', 'ndjson', clicks('new', 4, '2025-03-10T11:30:00Z'));
  const emptied = await status(data.root);
  expect(emptied).toMatchObject({ code: 1, output: expect.stringContaining('should have are not there') as string });

  await rm(data.landing, { recursive: true });
  await rename(`${data.landing}-away`, data.landing);
  expect((await status(data.root)).output).not.toContain('mount it again');
});

it(
  'a machine that follows storage has no landing folder and no state, and nobody asks it for a run',
  slow,
  async () => {
    const pipeline = await refreshed();
    await using follower = await PipelineUnderTest.bare(new Date(asOf));
    const { root, settingsFile, sitesFile, published, landing } = follower.data;
    await cp(pipeline.data.published, published, { recursive: true, verbatimSymlinks: true });
    await cp(pipeline.data.sitesFile, sitesFile);
    await rm(landing, { recursive: true, force: true });
    const storage = { url: 's3://bucket/network', access_key_id: 'id', secret_access_key: 'key', follow: true };
    await writeFile(settingsFile, JSON.stringify({ storage }));
    const { code, stdout } = await endOf(root, 'status', '--json');
    const { alarms, landing: landed, to_do } = JSON.parse(stdout) as Record<'alarms' | 'landing' | 'to_do', unknown>;
    expect({ code, alarms, landed, to_do }).toEqual({
      code: 0,
      alarms: [],
      landed: { trouble: null, ignored: 0, ignored_files: [] },
      to_do: [],
    });
    expect((await status(root)).output).not.toMatch(/landing does not exist|run refresh|--repair|backfill/);
    expect(await endOf(root, 'doctor')).toMatchObject({ code: 0, stdout: 'all is well\n' });

    await rm(join(published, 'current'));
    const damaged = await endOf(root, 'doctor');
    expect(damaged.stdout).toContain('the next one of storage takes its place');
    expect(damaged.stdout).not.toContain('--repair');
    expect((await status(root)).output).not.toContain('--repair');
  },
);

it('logs that were archived are no trouble while the newest export is there', async () => {
  const pipeline = await refreshed();
  await rm(join(pipeline.data.landing, 'clicks'), { recursive: true });
  await rm(join(pipeline.data.landing, 'conversions'), { recursive: true, force: true });
  expect((await status(pipeline.data.root)).output).not.toContain('mount it again');
});

it('a folder of landing that cannot be listed is reported beside all else', slow, async () => {
  const pipeline = await refreshed();
  const { root, landing } = pipeline.data;
  await rm(join(landing, 'clicks'), { recursive: true });
  // As one without permission, or on a disk that fails: the system refuses it by another code than of one that is gone.
  await symlink('x'.repeat(300), join(landing, 'clicks'));
  const { code, output } = await status(root);
  expect({ code, output }).toEqual({
    code: 1,
    output: expect.stringMatching(/landing cannot be listed \(ENAMETOOLONG/),
  });
  expect(output).toContain('snapshot');
  expect((await endOf(root, 'doctor')).stdout).toContain('landing cannot be listed');
});

it('files that landing does not read are counted and named', slow, async () => {
  await using pipeline = await smallData();
  const { landing, root } = pipeline.data;
  await mkdir(join(landing, 'clicks'), { recursive: true });
  for (const name of ['clicks/a.log', 'clicks/b.zip', 'Clicks.csv']) await writeFile(join(landing, name), 'x');
  await pipeline.refresh(asOf);
  const { output } = await status(root);
  expect(output).toContain('3 landing files not read (clicks/a.log, clicks/b.zip, Clicks.csv)');
  expect((await endOf(root, 'doctor')).stdout).toContain('3 of its files are not read, the first clicks/a.log');
});

it('an unreadable landing file is in the ledger from the second run on, until it is read', slow, async ({ skip }) => {
  const pipeline = await refreshed();
  const { data } = pipeline;
  const file = join(data.landing, 'clicks/closed.ndjson');
  // Root reads any file, unless it gives that right up.
  const isRoot = process.getuid?.() === 0;
  const wrapper = isRoot ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
  const [program, ...words] = [...wrapper, launcher.executable, ...launcher.words, 'run'];
  const run = (what: 'ingest' | 'refresh', minute: number) =>
    promisify(execFile)(program, [...words, what, '--as-of', `2025-03-10T12:0${minute}:00Z`], {
      env: { ...process.env, OFFERLINE_DATA: data.root },
    });
  const other = join(data.landing, 'clicks/closed-too.ndjson');
  await writeFile(file, ndjson(clicks('closed', 4, '2025-03-10T11:30:00Z')));
  await writeFile(other, ndjson(clicks('closed-too', 4, '2025-03-10T11:30:00Z')));
  for (const closed of [file, other]) await chmod(closed, 0o000);
  const ledger = () =>
    pipeline.ask(`SELECT status, reason FROM ingest_files WHERE path = 'clicks/closed.ndjson' ORDER BY file_id`);
  await run('refresh', 2).catch((error: NodeJS.ErrnoException) => {
    skip(error.code === 'ENOENT', 'setpriv cannot be found');
    throw error;
  });
  expect(await ledger()).toEqual([]);
  await run('ingest', 3);
  await run('refresh', 4);
  expect(await ledger()).toEqual([
    { status: 'quarantined', reason: expect.stringMatching(/^unreadable: .*EACCES.*let the user/) as string },
  ]);
  expect((await status(data.root)).output).toContain('clicks/closed.ndjson (unreadable');
  expect(
    await pipeline.ask(`SELECT path FROM ingest_files WHERE starts_with(reason, 'unreadable') ORDER BY path`),
  ).toEqual([{ path: 'clicks/closed-too.ndjson' }, { path: 'clicks/closed.ndjson' }]);
  for (const closed of [file, other]) await chmod(closed, 0o644);
  await pipeline.refresh('2025-03-10T12:05:00Z');
  expect(await ledger()).toMatchObject([{ status: 'quarantined' }, { status: 'loaded' }]);
  expect((await status(data.root)).output).not.toContain('unreadable');
});
