import { readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { maintenance } from '../../pipelines/maintenance.ts';
import { refresh, stages } from '../../pipelines/refresh.ts';
import { readStatus, type Status } from '../../src/cli/status.ts';
import { readSettings } from '../../src/config/settings.ts';
import { realEffects, type Effects } from '../../src/files/effects.ts';
import { archivableFiles } from '../../src/maintenance/archivable-files.ts';
import { createLogger } from '../../src/logging/log.ts';
import { noProgress } from '../../src/logging/progress.ts';
import { acquireWriterLock } from '../../src/runs/lock.ts';
import { readRecentRuns } from '../../src/runs/recent-runs.ts';
import { killedRefresh } from '../fault/killed-refresh.ts';
import { offerline } from '../support/command-line.ts';
import { command } from '../support/commands.ts';
import { click, LogLanding } from '../support/log-landing.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';

const silent = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const noon = '2026-03-10T12:00:00Z';
const settings = { snapshot_max_age_minutes: 30, freshness: { clicks_minutes: 90, offers_minutes: 120 } };
const clickAt = (id: string, clicked_at: string) => ({
  click_id: id,
  offer_id: 1,
  site_key: 's',
  user_id: 'u',
  clicked_at,
});

/** Every file of a folder with what tells a change of it. */
async function filesOf(folder: string): Promise<[path: string, bytes: number, modified: number][]> {
  const entries = (await readdir(folder, { recursive: true, withFileTypes: true })).map((entry) =>
    join(entry.parentPath, entry.name),
  );
  return Promise.all(
    entries
      .toSorted()
      .map(async (path): Promise<[string, number, number]> => [
        path,
        (await stat(path)).size,
        (await stat(path)).mtimeMs,
      ]),
  );
}

it('tells at one glance what is new, what failed, what waits and what is stale', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon), { settings });
  const { data } = pipeline;
  const offers = Array.from({ length: 12 }, (_, index) => ({
    external_id: `e${index}`,
    title: `Offer ${index}`,
    payout: '1',
  }));
  await pipeline.landOffers('net', offers);
  await pipeline.landLog('clicks', 'ndjson', [
    clickAt('early', '2026-03-03T11:00:00Z'),
    clickAt('a', '2026-03-10T11:00:00Z'),
    { ...clickAt('bad', noon), clicked_at: 'then' },
  ]);
  await pipeline.refresh('2026-03-10T11:50:00Z');
  await pipeline.landOffers('net', offers.slice(0, 2));
  await pipeline.refresh(noon);
  const request = { data, console: silent, asOf: noon };
  await expect(stages.publish({ ...request, asOf: '2026-03-10T12:01:00Z' })).rejects.toThrow('figures are as of');

  const at = (time: string) => readStatus(data, readSettings(data), Date.parse(time));
  const status = await at('2026-03-10T12:10:00Z');
  expect(status).toMatchObject({
    snapshot: { as_of: noon, age_seconds: 600 },
    newest: [
      { data: 'clicks', newest: '2026-03-10T11:00:00Z', age_seconds: 4200 },
      { data: 'conversions', newest: null, age_seconds: null },
      { data: 'offers of net', age_seconds: 600 },
    ],
    rejects_of_last_day: [{ reason: 'bad_clicked_at', rows: 1 }],
    held: [{ source: 'net', path: 'offers/net/0003.ndjson' }],
    reports: { outdated: 0, missing: 2 },
    postbacks: null,
    last_failure: { run_id: 3, pipeline: 'publish', recovered: false },
    stale: [],
  });
  expect((await at('2026-03-10T12:31:00Z')).stale).toEqual([
    'the snapshot is 31 minutes old, snapshot_max_age_minutes allows 30',
    'the newest of clicks is 91 minutes old, freshness.clicks_minutes allows 90',
  ]);
  expect((await at('2026-03-11T12:10:00Z')).rejects_of_last_day).toEqual([]);

  const { runs } = readRecentRuns(data);
  expect(runs.map(({ run_id, pipeline: name, status: outcome }) => [run_id, name, outcome])).toEqual([
    [3, 'publish', 'failed'],
    [2, 'refresh', 'done'],
    [1, 'refresh', 'done'],
  ]);
  expect(runs[2]?.stages.find(({ stage }) => stage === 'ingest')).toMatchObject({
    rows_in: 15,
    rows_out: 14,
    bytes: expect.any(Number) as number,
    error: null,
  });
  expect(
    await pipeline.ask(`SELECT stage, status, rows_in FROM run_stages WHERE run_id = 1 AND stage = 'ingest'`),
  ).toEqual([{ stage: 'ingest', status: 'done', rows_in: 15 }]);
});

it('says of a snapshot ahead of the clock what to do, and takes no age from what lies ahead', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon), { settings });
  const { data } = pipeline;
  await pipeline.landOffers('net', [{ external_id: 'e', title: 'Offer', payout: '1' }]);
  await pipeline.landLog('clicks', 'ndjson', [
    clickAt('a', '2026-03-10T11:00:00Z'),
    clickAt('ahead', '2026-03-10T16:00:00Z'),
  ]);
  await pipeline.refresh('2026-03-10T11:50:00Z');
  await pipeline.landOffers('net', [{ external_id: 'e', title: 'Offer', payout: '2' }]);
  await pipeline.refresh('2999-01-01T00:00:00Z', { clock: noon, allowFuture: true });
  const status = await readStatus(data, readSettings(data), Date.parse('2026-03-10T12:10:00Z'));
  expect(status).toMatchObject({
    snapshot: { as_of: '2999-01-01T00:00:00Z', age_seconds: null },
    ahead: { versions: 1, commissions: 0, last: '2999-01-01T00:00:00Z' },
    stale: [],
    newest: [
      { data: 'clicks', newest: '2026-03-10T11:00:00Z', age_seconds: 4200 },
      { data: 'conversions', newest: null },
      { data: 'offers of net', age_seconds: 600 },
    ],
    alarms: [
      expect.stringMatching(
        /^the snapshot is as of 2999-01-01T00:00:00Z, which lies ahead of this machine's clock.* set the clock where it is wrong.* `offerline doctor --repair` leads back$/,
      ) as string,
      expect.stringMatching(/^1 versions of offers .* `offerline doctor --repair` leads back$/) as string,
    ],
  });
  const { code, stdout, stderr } = await offerline(data.root, 'status');
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringMatching(
      /^snapshot .*, as of 2999-01-01T00:00:00Z, ahead of this machine's clock$/m,
    ) as string,
  });
  expect(stderr).toContain('`offerline doctor --repair`');
  expect(stdout).not.toMatch(/-\d+ s ago/);
  // Four minutes are no more than clocks differ by.
  const near = await readStatus(
    data,
    { snapshot_max_age_minutes: 30, freshness: {} },
    Date.parse('2998-12-31T23:56:00Z'),
  );
  expect(near).toMatchObject({ snapshot: { age_seconds: 0 }, ahead: null, stale: [], alarms: [] });
});

it('exits 1 where something is older than configured, after the answer', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon), { settings });
  const { code, stdout, stderr } = await offerline(pipeline.data.root, 'status', '--json');
  expect({ code, stale: (JSON.parse(stdout) as { stale: string[] }).stale }).toEqual({
    code: 1,
    stale: ['the snapshot is missing, snapshot_max_age_minutes allows 30'],
  });
  expect(stderr).toContain('the snapshot is missing');
});

describe('a run whose process is gone', () => {
  const killAt = { step: 'models: committed', moment: 'after', occurrence: 1 } as const;
  const at = Date.parse('2026-03-10T12:10:00Z');

  it('is told as interrupted and as the last failure, by readers that write nothing, until a run is good', async () => {
    await using pipeline = await PipelineUnderTest.create(new Date(noon));
    const { data } = pipeline;
    const { signal } = await killedRefresh({
      pipeline: 'refresh',
      root: data.root,
      asOf: noon,
      wallClock: Date.parse(noon),
      killAt,
    });
    expect(signal).toBe('SIGKILL');
    const before = await filesOf(data.root);
    expect(readRecentRuns(data).runs).toMatchObject([
      { run_id: 1, status: 'interrupted', error: 'process died mid-run' },
    ]);
    const status = await readStatus(data, readSettings(data), at);
    expect(status).toMatchObject({
      running: null,
      last_failure: { run_id: 1, pipeline: 'refresh', status: 'interrupted', recovered: false },
    });
    expect(await command(data.root, 'runs', '--failed')).toMatch(/1 {2}refresh .* interrupted .* process died mid-run/);
    const { code, stdout, stderr } = await offerline(data.root, 'status');
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringContaining('no run holds the warehouse\nrun 1 (refresh) ended by force') as string,
    });
    expect(stderr).toContain(`run 1 (refresh) ended by force; it began at ${noon}, and no run has been good since`);
    expect(await filesOf(data.root)).toEqual(before);

    await pipeline.refresh(noon);
    expect(await readStatus(data, readSettings(data), at)).toMatchObject({
      last_failure: { run_id: 1, recovered: true },
      alarms: [],
    });
    expect((await offerline(data.root, 'status')).code).toBe(0);
  });

  it('is not taken for one under way by who holds the warehouse for something else, nor the other way round', async () => {
    await using pipeline = await PipelineUnderTest.create(new Date(noon));
    const { data } = pipeline;
    await killedRefresh({ pipeline: 'refresh', root: data.root, asOf: noon, wallClock: Date.parse(noon), killAt });
    const lock = await acquireWriterLock(data, { command: 'doctor', waitSeconds: 0, onWaiting: () => undefined });
    try {
      expect(await readStatus(data, readSettings(data), at)).toMatchObject({
        running: { pid: process.pid, command: 'doctor' },
        last_failure: { run_id: 1, recovered: false },
      });
    } finally {
      lock.release();
    }
    let seen: Promise<Status> | undefined;
    const perform: Effects['perform'] = (step, work) => {
      if (step === 'ingest: committed') seen = readStatus(data, readSettings(data), at);
      return work();
    };
    await refresh({ data, console: silent, asOf: noon }, { ...realEffects, now: () => Date.parse(noon), perform });
    expect(await seen).toMatchObject({
      running: { pid: process.pid, command: 'run refresh' },
      last_failure: { run_id: 1 },
    });
  });
});

it('exits 1 until a failure is put right: a refresh does so for its stages, for maintenance only maintenance', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  const { data } = pipeline;
  const request = { data, console: silent, asOf: noon };
  const failing = (step: string): Effects => ({
    ...realEffects,
    now: () => Date.parse(noon),
    perform: (each, work) => (each === step ? Promise.reject(new Error('made to fail')) : work()),
  });
  const failed = async () => (await readStatus(data, readSettings(data), Date.parse(noon))).alarms;
  await expect(stages.ingest(request, failing('ingest: committed'))).rejects.toThrow('made to fail');
  expect(await failed()).toEqual([
    `run 1 (ingest) failed at ${noon}, and no run has been good since; \`offerline runs --failed\` tells more`,
  ]);
  await expect(maintenance(request, failing('begin of compact: committed'))).rejects.toThrow('made to fail');
  await pipeline.refresh(noon);
  expect(await failed()).toEqual([expect.stringContaining('run 2 (maintenance) failed') as string]);
  await maintenance(request, { ...realEffects, now: () => Date.parse(noon) });
  expect(await failed()).toEqual([]);
  const stop = AbortSignal.abort();
  await expect(refresh({ ...request, stop })).rejects.toThrow('asked to end');
  expect(await failed()).toEqual([]);
});

it('says ages as people do', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  await pipeline.landLog('clicks', 'ndjson', [clickAt('a', '2026-03-10T11:00:00Z')]);
  await pipeline.refresh(noon);
  const { root } = pipeline.data;
  const { stdout } = await offerline(root, 'status');
  // A clock may stand before that noon.
  expect(stdout).toMatch(/, as of 2026-03-10T12:00:00Z, (\d+ d ago|in \d+ d)\n/);
  expect(stdout).toMatch(/\nclicks +2026-03-10T11:00:00Z +(\d+ d ago|in \d+ d)\n/);
  expect(stdout).toMatch(/\nconversions +- +-\n/);
  expect((await offerline(root, 'runs')).stdout).toMatch(/ 2026-\S+ +(\d+ d ago|in \d+ d) +[\d.]+ s +done /);
});

it('lists landing files for the archive that no run needs any more, and no others', async () => {
  await using landing = await LogLanding.create();
  const old = new Date('2026-11-01T00:00:00Z');
  const put = async (path: string, rows: (string | object)[], time = old) =>
    utimes(await landing.put(path, rows), time, time);
  await put('clicks/old.ndjson', [click('a')]);
  await put('clicks/copy.ndjson', [click('a')]);
  await put('clicks/changed.ndjson', [click('b')]);
  await put('clicks/young.ndjson', [click('c')], new Date('2026-11-17T00:00:00Z'));
  await put('offers/net/1.ndjson', [{ external_id: 'a', title: 'A', payout: '1' }], new Date('2026-10-31T00:00:00Z'));
  await put('offers/net/2.ndjson', [{ external_id: 'a', title: 'A2', payout: '1' }]);
  await landing.ingest();
  await writeFile(join(landing.data.landing, 'clicks/changed.ndjson'), `${JSON.stringify(click('other'))}\n`);
  await utimes(join(landing.data.landing, 'clicks/changed.ndjson'), old, new Date('2026-11-02T00:00:00Z'));
  await put('clicks/new.ndjson', [click('d')]);
  const listed = await archivableFiles(landing.data, landing.state, Date.parse('2026-11-10T00:00:00Z'));
  expect(listed.map(({ path }) => path)).toEqual(['clicks/copy.ndjson', 'clicks/old.ndjson', 'offers/net/1.ndjson']);
});
