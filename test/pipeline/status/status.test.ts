import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { maintenance } from '../../../pipelines/maintenance.ts';
import { refresh, stages } from '../../../pipelines/refresh.ts';
import { createProgram } from '../../../src/cli/program.ts';
import { readSettings } from '../../../src/kit/config/settings.ts';
import { withDuckDB } from '../../../src/kit/duckdb/open.ts';
import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import { archivableFiles } from '../../../src/pipeline/maintenance/archivable-files.ts';
import { logsReadAtStart } from '../../../src/tracker/needed-logs.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { acquireWriterLock } from '../../../src/pipeline/runs/lock.ts';
import { readRecentRuns } from '../../../src/pipeline/runs/recent-runs.ts';
import { nothingPublished } from '../../../src/pipeline/status/published-status.ts';
import type { StatusReport } from '../../../src/pipeline/status/status-report.ts';
import { writeMapping } from '../../../src/pipeline/inspect/write-mapping.ts';
import { readStatus, type Status } from '../../../src/pipeline/status/status.ts';
import { adviseActions } from '../../../src/pipeline/status/actions.ts';
import { openStateDatabase } from '../../../src/pipeline/warehouse/database.ts';
import { PullLedger } from '../../../src/sources/pull-ledger.ts';
import { killedRefresh } from '../../fault/lives/killed-refresh.ts';
import { offerline } from '../../support/command-line.ts';
import { command, endOf } from '../../support/commands.ts';
import { click, LogLanding } from '../../support/log-landing.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { sharedPipeline } from '../../support/shared-pipeline.ts';
import { slow } from '../../support/slow.ts';

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

/** One click, published as of noon. */
const refreshed = sharedPipeline(async () => {
  const pipeline = await PipelineUnderTest.create(new Date(noon));
  await pipeline.landLog('clicks', 'ndjson', [clickAt('a', '2026-03-10T11:00:00Z')]);
  await pipeline.refresh(noon);
  return pipeline;
});

/** Returns every file of a folder with its size and times. */
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

it('shows what is new, what failed, what waits and what is stale', slow, async () => {
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
  const request = { data, terminal: silent, asOf: noon };
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
  expect(status.to_do).toEqual([
    {
      what: expect.stringMatching(
        /^run 3 \(publish\) failed at .*figures are as of.*no run has been good since/,
      ) as string,
      command: 'offerline run refresh',
      alarm: true,
    },
    {
      what: expect.stringContaining('an export of net is held, offers/net/0003.ndjson (') as string,
      command: `offerline offers accept ${status.held[0]?.file_id}`,
    },
    {
      what: '1 row of the last 24 hours rejected, most for bad_clicked_at: write it like 2026-11-24T01:01:10Z, or have a mapping read it by its pattern, as in "time": "%d.%m.%Y %H:%M:%S"',
      command: 'offerline sql "FROM rejects ORDER BY file_id DESC, line LIMIT 20"',
    },
    {
      what: 'daily reports: 0 outdated, 2 missing; `offerline backfill reports --dry-run` shows which',
      command: 'offerline backfill reports',
    },
  ]);
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

it('knows the newest events of a snapshot that an earlier version published', slow, async () => {
  const { data } = await refreshed();
  const at = () => readStatus(data, readSettings(data), Date.parse('2026-03-10T12:10:00Z'));
  const { newest } = await at();
  await withDuckDB(join(data.current, 'analytics.duckdb'), {}, (connection) =>
    connection.run('DROP TABLE newest_events'),
  );
  expect((await at()).newest).toEqual(newest);
  expect(newest).toMatchObject([{ data: 'clicks', newest: '2026-03-10T11:00:00Z' }, { data: 'conversions' }]);
});

it('says of a snapshot ahead of the clock what to do, and takes no age from what is ahead', slow, async () => {
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
    ahead: { versions: 1, terms: 0, last: '2999-01-01T00:00:00Z' },
    stale: [],
    newest: [
      { data: 'clicks', newest: '2026-03-10T11:00:00Z', age_seconds: 4200 },
      { data: 'conversions', newest: null },
      { data: 'offers of net', age_seconds: 600 },
    ],
    alarms: [
      expect.stringMatching(
        /^the snapshot is as of 2999-01-01T00:00:00Z, which is ahead of this machine's clock.* set the clock where it is wrong.* `offerline doctor --repair` moves future timestamps back to now$/,
      ) as string,
      expect.stringMatching(
        /^1 versions of offers .* `offerline doctor --repair` moves future timestamps back to now$/,
      ) as string,
    ],
  });
  const { code, stdout, stderr } = await endOf(data.root, 'status');
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
    { snapshot_max_age_minutes: 30, freshness: {}, pictures: false, postbacks: {} },
    Date.parse('2998-12-31T23:56:00Z'),
  );
  expect(near).toMatchObject({ snapshot: { age_seconds: 0 }, ahead: null, stale: [], alarms: [] });
});

it('exits 1 where something is older than configured, after the answer', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon), { settings });
  const { code, stdout, stderr } = await endOf(pipeline.data.root, 'status', '--json');
  expect({ code, stale: (JSON.parse(stdout) as { stale: string[] }).stale }).toEqual({
    code: 1,
    stale: ['the snapshot is missing, snapshot_max_age_minutes allows 30'],
  });
  expect(stderr).toContain('the snapshot is missing');
});

describe('a run whose process is gone', () => {
  const killAt = { step: 'models: committed', moment: 'after', occurrence: 1 } as const;
  const at = Date.parse('2026-03-10T12:10:00Z');
  const killed = sharedPipeline(async () => {
    const pipeline = await PipelineUnderTest.create(new Date(noon));
    const { root } = pipeline.data;
    const request = { pipeline: 'refresh', root, asOf: noon, wallClock: Date.parse(noon), killAt } as const;
    const { signal } = await killedRefresh(request);
    if (signal !== 'SIGKILL') throw new Error(`the refresh ended by ${String(signal)}, not by its kill`);
    return pipeline;
  });

  it('is shown as interrupted and as the last failure until a run succeeds', slow, async () => {
    const pipeline = await killed();
    const { data } = pipeline;
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
    expect((await endOf(data.root, 'status')).code).toBe(0);
  });

  it('is not taken for one under way where the warehouse is held for something else', slow, async () => {
    const { data } = await killed();
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
    await refresh({ data, terminal: silent, asOf: noon }, { ...realEffects, now: () => Date.parse(noon), perform });
    expect(await seen).toMatchObject({
      running: { pid: process.pid, command: 'run refresh' },
      last_failure: { run_id: 1 },
    });
  });
});

it('exits 1 until the pipeline that failed succeeds: for maintenance only maintenance does', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  const { data } = pipeline;
  const request = { data, terminal: silent, asOf: noon };
  const failing = (step: string): Effects => ({
    ...realEffects,
    now: () => Date.parse(noon),
    perform: (each, work) => (each === step ? Promise.reject(new Error('made to fail')) : work()),
  });
  const failed = async () => (await readStatus(data, readSettings(data), Date.parse(noon))).alarms;
  await expect(stages.ingest(request, failing('ingest: committed'))).rejects.toThrow('made to fail');
  expect(await failed()).toEqual([
    `run 1 (ingest) failed at ${noon}, and no run has been good since; \`offerline runs --failed\` shows more`,
  ]);
  await expect(maintenance(request, failing('begin of compact: committed'))).rejects.toThrow('made to fail');
  await pipeline.refresh(noon);
  expect(await failed()).toEqual([expect.stringContaining('run 2 (maintenance) failed') as string]);
  // More refreshes than the copy of the ledger has.
  const state = await openStateDatabase(data, readSettings(data));
  await state.connection.run(
    `INSERT INTO runs SELECT runs.* REPLACE (run_id + number AS run_id) FROM runs, range(1, 601) AS numbers(number) WHERE run_id = 3`,
  );
  await state.close();
  await pipeline.refresh(noon);
  expect(await failed()).toEqual([expect.stringContaining('run 2 (maintenance) failed') as string]);
  await maintenance(request, { ...realEffects, now: () => Date.parse(noon) });
  expect(await failed()).toEqual([]);
  const stop = AbortSignal.abort();
  await expect(refresh({ ...request, stop })).rejects.toThrow('asked to end');
  expect(await failed()).toEqual([]);
});

/** The smallest report, without anything that needs attention. */
const well: StatusReport = {
  ...nothingPublished,
  snapshot: { snapshot_id: 's', as_of: noon, age_seconds: 60, row_counts: {} },
  running: null,
  postbacks: { pending: 3, dead: 0 },
  waiting_postbacks: [],
  configuration: null,
  silent_sites: [],
  last_failure: null,
  refused_runs: null,
  refused_maintenance: null,
  schedule: {
    role: 'neither',
    pid: null,
    since: null,
    storage: null,
    writer: null,
    lease_age_seconds: null,
    error: null,
    error_since: null,
    last_error: null,
    last_error_at: null,
    clock_offset_seconds: null,
  },
  pipelines: [],
  damage: [],
  machine: [],
  stops_runs: [],
  sites: [],
  landing: { trouble: null, ignored: 0, ignored_files: [] },
  sources: [],
  pictures: null,
  sources_file: [],
  unreadable: [],
};
const failure = { run_id: 7, status: 'failed', at: noon, error: 'no room\nat all', recovered: false } as const;

/** Cases below in which `status` fails. */
const alarming = ['last_failure', 'ahead', 'sources'] as const;

describe('what needs attention', () => {
  it('is nothing where all is well, and what one run has put right', () => {
    expect(adviseActions(well, [], 60)).toEqual([]);
    expect(
      adviseActions({ ...well, last_failure: { ...failure, pipeline: 'refresh', recovered: true } }, [], 60),
    ).toEqual([]);
  });

  it('shows when all of a source last came, a catalog or not', () => {
    const source = { source: 'logs', last_pull: 'failed', error: '503', ended_by_force: false } as const;
    const actionsOf = (last_whole_pull_at: string | null, age_seconds: number | null) =>
      adviseActions({ ...well, sources: [{ ...source, last_whole_pull_at, age_seconds }] }, [], 60).map(
        ({ what }) => what,
      );
    expect(actionsOf(noon, 90)).toEqual(['source logs was not pulled (503): its last whole pull was 1 min ago']);
    expect(actionsOf(null, null)).toEqual(['source logs was not pulled (503): it was never pulled whole']);
  });

  it.each<[string, Partial<StatusReport>, command: string]>([
    ['damage', { damage: ['the state is damaged'] }, 'doctor --repair'],
    [
      'a network that cannot be pulled',
      {
        sources: [
          {
            source: 'north',
            last_whole_pull_at: noon,
            age_seconds: 90,
            last_pull: 'failed',
            error: '503',
            ended_by_force: false,
          },
        ],
      },
      'sources pull north',
    ],
    ['a bad sources.json', { sources_file: ['it is not valid JSON'] }, 'sources list'],
    ['a full disk', { machine: ['the folder has 3 MiB of room'] }, 'doctor'],
    [
      'a snapshot ahead',
      { snapshot: { snapshot_id: 's', as_of: noon, age_seconds: null, row_counts: {} } },
      'doctor --repair',
    ],
    ['prices ahead', { ahead: { versions: 1, terms: 0, last: noon } }, 'doctor --repair'],
    ['no snapshot', { snapshot: null }, 'run refresh'],
    ['a failed run', { last_failure: { ...failure, pipeline: 'models' } }, 'run refresh'],
    ['failed maintenance', { last_failure: { ...failure, pipeline: 'maintenance' } }, 'run maintenance'],
    ['a failed backfill', { last_failure: { ...failure, pipeline: 'backfill' } }, 'backfill reports'],
    [
      'a held export',
      { held: [{ file_id: 4, source: 'net', path: 'offers/net/a.json', reason: 'r' }] },
      'offers accept 4',
    ],
    [
      'a quarantined file',
      { quarantined: [{ path: 'clicks/a.csv', reason: 'r' }] },
      `sql "SELECT path, reason FROM ingest_files WHERE status = 'quarantined' ORDER BY file_id DESC"`,
    ],
    ['rewards of an unknown site', { unknown_sites: [{ site_key: 'a', conversions: 2 }] }, 'sites list'],
    ['an older export', { set_aside: [{ source: 'net', files: 1, path: 'a', reason: 'r' }] }, 'run refresh'],
    [
      'rejected rows',
      { rejects_of_last_day: [{ reason: 'no_rate', rows: 2 }], rejected_rows_of_last_day: 3 },
      'sql "FROM rejects ORDER BY file_id DESC, line LIMIT 20"',
    ],
    ['reports', { reports: { outdated: 1, missing: 0 } }, 'backfill reports'],
    ['sites.json', { sites: ['secrets can be guessed'] }, 'sites list'],
    [
      'a site that is gone',
      { waiting_postbacks: [{ site_key: 'a', due: 1, waits_for: 'a site in sites.json' }] },
      'sites list',
    ],
    ['a paused site', { waiting_postbacks: [{ site_key: 'a', due: 2, waits_for: noon }] }, 'postbacks test a'],
    [
      'a paused site whose key a shell would read',
      { waiting_postbacks: [{ site_key: "-a b'c", due: 2, waits_for: noon }] },
      `postbacks test -- '-a b'\\''c'`,
    ],
    ['dead postbacks', { postbacks: { pending: 0, dead: 2 } }, 'postbacks retry --all'],
    [
      'damage that names its repair itself',
      { damage: ['it cannot be read; `offerline doctor --deep --repair` looks'] },
      'doctor --deep --repair',
    ],
    [
      'a run that failed by what only a deep repair heals',
      {
        last_failure: { ...failure, pipeline: 'refresh', error: 'x: `offerline doctor --deep --repair` puts it aside' },
      },
      'doctor --deep --repair',
    ],
  ])('names one command that there is for %s', async (_name, trouble, typed) => {
    const advised = adviseActions({ ...well, ...trouble }, [], 60);
    const isAlarm = alarming.some((key) => key in trouble) || trouble.snapshot?.age_seconds === null;
    expect(advised).toEqual([
      {
        what: expect.stringMatching(/^\S.*\S$/) as string,
        command: `offerline ${typed}`,
        ...(isAlarm && { alarm: true }),
      },
    ]);
    const program = await createProgram({ terminal: silent, print: () => undefined });
    const [first = '', ...words] = typed.split(' ');
    let known = program.commands.find((each) => each.name() === first);
    while (known !== undefined && known.commands.length > 0)
      known = known.commands.find((each) => each.name() === words[0] && words.shift() !== undefined);
    expect(known, typed).toBeDefined();
    const options = words.filter((word) => /^--\w/.test(word));
    expect(options.filter((option) => known?.options.every(({ long }) => long !== option))).toEqual([]);
  });

  it('is advised for what is stale', () => {
    expect(adviseActions(well, ['the newest of clicks is 91 minutes old'], 60)).toEqual([
      {
        what: expect.stringContaining('the newest of clicks is 91 minutes old') as string,
        command: 'offerline run refresh',
        alarm: true,
      },
    ]);
  });
});

it('names a quarantined file as long as it is there, and what cannot be read beside all else', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  const { data } = pipeline;
  await pipeline.landLog('clicks', 'ndjson', [clickAt('a', '2026-03-10T11:00:00Z')]);
  const broken = join(data.landing, 'clicks', 'broken.ndjson.gz');
  await writeFile(broken, Buffer.from([0x1f, 0x8b, 0x08, 0]));
  await pipeline.refresh(noon);
  const read = () => readStatus(data, readSettings(data), Date.parse(noon));
  expect(await read()).toMatchObject({
    quarantined: [{ path: 'clicks/broken.ndjson.gz' }],
    alarms: [],
    to_do: [{ command: expect.stringContaining('quarantined') as string }],
  });
  await rename(broken, `${broken}.tmp`);
  expect((await read()).quarantined).toEqual([]);

  await writeFile(data.sitesFile, '{');
  await mkdir(data.postbacks);
  await writeFile(data.deliveriesFile, 'no database, whatever its name says. '.repeat(100));
  const { snapshot_id } = (await read()).snapshot ?? {};
  await writeFile(join(data.published, String(snapshot_id), 'analytics.duckdb'), 'no database');
  const { code, stdout, stderr } = await endOf(data.root, 'status');
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('cannot be read') as string });
  expect(stdout).toMatch(
    /\nneeds attention\n {2}the published snapshot .* cannot be read: .*\n {4}do: offerline doctor --repair\n/,
  );
  expect(stdout).toMatch(/\n {2}.*deliveries.sqlite is damaged: .*\n {4}do: offerline doctor --repair\n/);
  expect(stdout).toMatch(/\n {2}.*sites.json is not valid JSON in line 1.*\n {4}do: offerline sites list\n/);
});

it('names sites whose rewards wait, since sites.json does not know them, until it does', slow, async () => {
  const site = (site_key: string) => ({ site_key, site_secret: 'a-secret-of-sixteen' });
  await using pipeline = await PipelineUnderTest.create(new Date(noon), { sites: [site('known')] });
  await pipeline.landOffers('net', [{ external_id: '1', title: 'one', payout: 1 }]);
  const clickOf = (click_id: string, site_key: string) => {
    const { offer_id: _, ...row } = clickAt(click_id, '2026-03-10T11:00:00Z');
    return { ...row, source: 'net', external_id: '1', site_key };
  };
  const occurred_at = '2026-03-10T11:30:00Z';
  const credit = (click_id: string) => ({ conversion_id: `of-${click_id}`, click_id, kind: 'credit', occurred_at });
  await pipeline.landLog('clicks', 'ndjson', [clickOf('a', 'known'), clickOf('b', 'unknown')]);
  await pipeline.landLog('conversions', 'ndjson', [credit('a'), credit('b')]);
  await pipeline.refresh(noon);
  const read = () => readStatus(pipeline.data, readSettings(pipeline.data), Date.parse(noon));
  const { unknown_sites, to_do } = await read();
  expect(unknown_sites).toEqual([{ site_key: 'unknown', conversions: 1 }]);
  expect(to_do.map(({ what }) => what)).toContain(
    'rewards of 1 conversion of the last 24 hours wait for site unknown, which sites.json does not know',
  );
  await writeFile(pipeline.data.sitesFile, JSON.stringify({ sites: [site('known'), site('unknown')] }));
  await pipeline.refresh(noon);
  expect((await read()).unknown_sites).toEqual([]);
});

it.each([
  ['sites.json', 'is not valid JSON', 'sites list'],
  ['sources.json', 'is not valid JSON', 'sources list'],
])('fails where %s is broken, since runs and pulls stop at it', async (file, problem, toTry) => {
  const { data } = await refreshed();
  await writeFile(join(data.root, file), '{');
  const read = await readStatus(data, readSettings(data), Date.parse(noon));
  expect(read.alarms).toEqual([expect.stringMatching(`${file} ${problem}`)]);
  expect(read.to_do).toEqual([
    { what: expect.stringContaining(file) as string, command: `offerline ${toTry}`, alarm: true },
  ]);
});

it('fails where sites.json or sources.json is gone, since nothing else does', slow, async () => {
  const site = { site_key: 's', site_secret: 'a-secret-of-sixteen' };
  await using pipeline = await PipelineUnderTest.create(new Date(noon), { sites: [site] });
  const { data } = pipeline;
  // A conversion without its click has no site, and waits for none.
  await pipeline.landLog('conversions', 'ndjson', [
    { conversion_id: 'v', click_id: 'late', kind: 'credit', occurred_at: '2026-03-10T11:30:00Z', payout: '1' },
  ]);
  await pipeline.refresh(noon);
  const read = () => readStatus(data, readSettings(data), Date.parse(noon));
  await rm(data.sitesFile);
  await pipeline.refresh('2026-03-10T12:01:00Z');
  expect((await read()).unknown_sites).toEqual([]);
  const gone = /sites\.json does not exist, though sites were published: .* bring it back/;
  expect((await read()).alarms).toEqual([expect.stringMatching(gone)]);

  await writeFile(data.sitesFile, JSON.stringify({ sites: [site] }));
  expect((await read()).alarms).toEqual([]);
  await writeFile(data.sourcesFile, '{"sources": []}');
  using ledger = new PullLedger(data);
  ledger.end(ledger.begin('net', noon), noon, { status: 'done' });
  expect((await read()).alarms).toEqual([]);
  await rm(data.sourcesFile);
  const { alarms, to_do } = await read();
  expect(alarms).toEqual([
    expect.stringMatching(/sources\.json does not exist, so nothing is pulled: bring it back, or/),
  ]);
  expect(to_do).toContainEqual({ what: alarms[0], command: 'offerline sources list', alarm: true });
});

it('a copy of what was published, without sites.json, is no alarm', async () => {
  const site = { site_key: 's', site_secret: 'a-secret-of-sixteen' };
  await using pipeline = await PipelineUnderTest.create(new Date(noon), { sites: [site] });
  const { data } = pipeline;
  await pipeline.refresh(noon);
  for (const path of [data.sitesFile, data.warehouse]) await rm(path, { recursive: true });
  expect(await readStatus(data, readSettings(data), Date.parse(noon))).toMatchObject({ alarms: [] });
});

it('distinguishes snapshots without a link from none', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  const { data } = pipeline;
  expect((await endOf(data.root, 'status')).stdout).toMatch(/^No snapshot was published yet\.\n/);
  await pipeline.refresh(noon);
  await rm(data.current);
  const { stdout } = await endOf(data.root, 'status');
  expect(stdout).toMatch(/^No published snapshot can be read\.\n/);
  expect(stdout).toMatch(/ no link names one of the 1 published snapshots\n {4}do: offerline doctor --repair/);
});

it('says ages as people do', async () => {
  const { root } = (await refreshed()).data;
  const stdout = await command(root, 'status');
  // A clock may stand before that noon.
  expect(stdout).toMatch(/, as of 2026-03-10T12:00:00Z, (\d+ d ago|in \d+ d)\n/);
  expect(stdout).toMatch(/\nclicks +2026-03-10T11:00:00Z +(\d+ d ago|in \d+ d)\n/);
  expect(stdout).toMatch(/\nconversions +- +-\n/);
  expect(await command(root, 'runs')).toMatch(/ 2026-\S+ +(\d+ d ago|in \d+ d) +[\d.]+ s +done /);
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
  // The tracker reads conversions of 90 days when it starts, and today's clicks.
  const credit = (id: string) => ({ conversion_id: id, click_id: 'a', kind: 'credit', occurred_at: noon });
  await put('conversions/tracker/2026-08-11/old.ndjson', [credit('v1')]);
  await put('conversions/tracker/2026-08-12/needed.ndjson', [credit('v2')]);
  await put('clicks/tracker/2026-11-09/old.ndjson', [click('e')]);
  await put('clicks/tracker/2026-11-10/needed.ndjson', [click('f')]);
  await put('offers/net/1.ndjson', [{ external_id: 'a', title: 'A', payout: '1' }], new Date('2026-10-31T00:00:00Z'));
  await put('offers/net/2.ndjson', [{ external_id: 'a', title: 'A2', payout: '1' }]);
  await landing.ingest();
  await writeFile(join(landing.data.landing, 'clicks/changed.ndjson'), `${JSON.stringify(click('other'))}\n`);
  await utimes(join(landing.data.landing, 'clicks/changed.ndjson'), old, new Date('2026-11-02T00:00:00Z'));
  await put('clicks/new.ndjson', [click('d')]);
  const now = Date.parse('2026-11-10T01:00:00Z');
  const needed = logsReadAtStart(landing.data, now);
  const listed = await archivableFiles(landing.data, landing.state, now, (path) => needed.has(path));
  expect(listed.map(({ path }) => path)).toEqual([
    'clicks/copy.ndjson',
    'clicks/old.ndjson',
    'clicks/tracker/2026-11-09/old.ndjson',
    'conversions/tracker/2026-08-11/old.ndjson',
    'offers/net/1.ndjson',
  ]);
  // Just after midnight yesterday's clicks, too: the clock may be set back.
  expect([...logsReadAtStart(landing.data, now - 1)]).toContain('clicks/tracker/2026-11-09/old.ndjson');
});

/** Published as of noon from files that status has something to say about. */
const withOddFiles = sharedPipeline(async () => {
  const pipeline = await PipelineUnderTest.create(new Date(noon), {
    settings: {
      files: [
        { match: 'offers/mapped/**', fields: { external_id: 'Id', title: 'Name', payout: 'Pays', currency: 'EUR' } },
      ],
    },
  });
  const files = {
    'offers/mapped/a.csv': 'Id;Name;Pays\n1;One;2\n',
    'offers/net/a.csv': 'external_id,title,payout,countries\n1,A,1.00,US\n1,A,0.50,DE\n1,A,0.20,IN\n1,A,1.00,US\n',
    'conversions/own/a.csv':
      'conversion_id,click_id,kind,occurred_at,payout,currency\nv,c,credit,2026-03-10T10:00:00Z,100,INR\n',
  };
  for (const [name, text] of Object.entries(files)) {
    const path = join(pipeline.data.landing, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  await pipeline.refresh(noon);
  return pipeline;
});

it('names a field whose column a file lacks, for a day', slow, async () => {
  const { data } = await withOddFiles();
  const at = (time: string) => readStatus(data, readSettings(data), Date.parse(time));
  expect((await at('2026-03-10T12:10:00Z')).to_do).toContainEqual({
    what: '1 file of the last 24 hours lacks the column that the mapping reads currency from, which counts as absent, the last offers/mapped/a.csv: put its mapping right',
    command: `offerline sql "FROM ingest_warnings WHERE warning = 'no_column'"`,
  });
  expect((await at('2026-03-11T12:10:00Z')).absent_columns).toEqual([]);
});

it('a PostgreSQL that does not answer is to be looked at, repaired by nobody, and hides nothing', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon), {
    settings: { postbacks: { store: 'postgres://u:hidden-word@127.0.0.1:1/db' } },
  });
  const { code, stdout, stderr } = await endOf(pipeline.data.root, 'status', '--json');
  expect(code).toBe(1);
  expect(stdout + stderr).not.toContain('hidden-word');
  expect(JSON.parse(stdout)).toMatchObject({
    alarms: [expect.stringContaining('127.0.0.1:1/db')],
    to_do: [{ command: 'offerline doctor' }, { command: 'offerline run refresh' }],
  });
});

it('names rows that do not count since another says something else under their id, for a day', slow, async () => {
  const { data } = await withOddFiles();
  const at = (time: string) => readStatus(data, readSettings(data), Date.parse(time));
  const { conflicts, to_do, alarms } = await at('2026-03-10T12:10:00Z');
  expect(conflicts).toEqual([{ kind: 'offers', rows: 2, files: 1, path: 'offers/net/a.csv' }]);
  expect(to_do.filter(({ what }) => what.includes('something else'))).toEqual([
    {
      what: expect.stringMatching(
        /^2 rows of offers in 1 file of the last 24 hours say something else than the first one under the same id, and do not count, the last in offers\/net\/a\.csv: .* external_id by "join"$/,
      ) as string,
      command: expect.stringContaining('offerline sql') as string,
    },
  ]);
  expect(alarms).toEqual([]);
  expect((await at('2026-03-11T12:10:00Z')).conflicts).toEqual([]);
});

it('names logs in our own fields with a currency; a mapping that takes them over is refused', slow, async () => {
  const { data } = await withOddFiles();
  const { unread_currencies, to_do } = await readStatus(data, readSettings(data), Date.parse('2026-03-10T12:10:00Z'));
  expect(unread_currencies).toEqual([{ files: 1, path: 'conversions/own/a.csv' }]);
  expect(to_do.map(({ what }) => what).join('\n')).toContain(
    'all amounts count as USD, the last conversions/own/a.csv',
  );
  const mapping = { match: 'conversions/own/**' };
  await expect(writeMapping(data, mapping, 'conversions/own/b.csv')).rejects.toThrow(
    'is for conversions/own/a.csv, too',
  );
  await writeMapping(data, mapping, 'conversions/own/a.csv');
});
