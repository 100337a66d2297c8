import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { OfferlineError } from '../../src/kit/errors/errors.ts';
import { acquireProcessLock } from '../../src/kit/files/process-lock.ts';
import { readRecentRuns } from '../../src/pipeline/runs/recent-runs.ts';
import { PullLedger } from '../../src/sources/pull-ledger.ts';
import { readLastFailure } from '../../src/pipeline/status/last-failure.ts';
import { endOf } from '../support/commands.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { slow } from '../support/slow.ts';

const noon = '2026-03-10T12:00:00Z';

it('pulls are in the run ledger once the next run has begun, each once', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  using ledger = new PullLedger(pipeline.data);
  const pull = (status: 'done' | 'failed', at: string, error?: string) =>
    ledger.end(ledger.begin('north', at), at, { status, records: 3, ...(error === undefined ? {} : { error }) });
  pull('done', '2026-03-10T11:00:00Z');
  pull('failed', '2026-03-10T11:20:00Z', 'HTTP 503');
  // A pull holds this lock while it is under way.
  const lock = await acquireProcessLock(
    {
      name: 'source south',
      lockFile: pipeline.data.sourceLockFile('south'),
      busy: (message) => new OfferlineError(message),
    },
    { command: 'sources pull', waitSeconds: 0, onWaiting: () => undefined },
  );
  const underWay = ledger.begin('south', '2026-03-10T11:30:00Z');
  await pipeline.ingest(noon);
  const runs = () =>
    readRecentRuns(pipeline.data).runs.map(({ run_id, pipeline: name, status }) => `${run_id} ${name} ${status}`);
  expect(runs()).toEqual(['3 ingest done', '2 pull north failed', '1 pull north done']);
  expect(readLastFailure(pipeline.data)).toBeNull();
  await pipeline.refresh(noon);
  ledger.end(underWay, '2026-03-10T11:40:00Z', { status: 'done' });
  lock.release();
  pull('done', '2026-03-10T11:50:00Z');
  await pipeline.ingest(noon);
  expect(runs()).toEqual([
    '7 ingest done',
    '6 pull north done',
    '5 pull south done',
    '4 refresh done',
    '3 ingest done',
    '2 pull north failed',
    '1 pull north done',
  ]);
});

it('pulls of two machines, which take the state over from each other, are in the run ledger once', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  const { data } = pipeline;
  const pull = (at: string) => {
    using ledger = new PullLedger(data);
    ledger.end(ledger.begin('north', at), at, { status: 'done', records: 3 });
  };
  /** The state goes to the other machine, and the ledger of pulls is each machine's own. */
  const takeOver = async () => {
    await rename(data.sources, `${data.sources}-next`);
    await rename(`${data.sources}-other`, data.sources).catch(() => undefined);
    await rename(`${data.sources}-next`, `${data.sources}-other`);
  };
  for (const minute of ['10', '20', '30']) pull(`2026-03-10T11:${minute}:00Z`);
  await pipeline.ingest(noon);
  for (const minute of ['40', '50']) {
    await takeOver();
    pull(`2026-03-10T11:${minute}:00Z`);
    await pipeline.ingest(noon);
  }
  const adopted = readRecentRuns(data).runs.filter((run) => run.pipeline === 'pull north');
  expect(adopted.map(({ started_at }) => started_at.slice(14, 16))).toEqual(['50', '40', '30', '20', '10']);
});

it('a damaged ledger of pulls stops pulls alone, until the doctor puts it aside', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  const { data } = pipeline;
  await pipeline.refresh(noon);
  const north = { source: 'north', connector: 'everflow', secrets: { api_key: 'k'.repeat(20) } };
  const source = { ...north, base_url: 'http://127.0.0.1:9' };
  await writeFile(data.sourcesFile, JSON.stringify({ sources: [source] }), { mode: 0o600 });
  const pull = (at: string) => {
    using ledger = new PullLedger(data);
    ledger.end(ledger.begin('north', at), at, { status: 'done', records: 3 });
  };
  for (const at of ['2026-03-10T11:00:00Z', '2026-03-10T11:20:00Z']) pull(at);
  await pipeline.ingest(noon);
  await rm(`${data.pullLedgerFile}-wal`, { force: true });
  await writeFile(data.pullLedgerFile, randomBytes(20_000));

  await pipeline.refresh(noon);
  expect((await endOf(data.root, 'schedule', '--dry-run')).code).toBe(0);
  const commands = [['sources', 'list'], ['sources', 'pull'], ['status']];
  for (const words of commands)
    expect(await endOf(data.root, ...words)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/pulls\.sqlite is damaged: .*run `offerline doctor --repair`/) as string,
    });
  expect((await endOf(data.root, 'doctor')).stdout).toMatch(/TROUBLE {2}pulls: .*pulls\.sqlite is damaged/);
  expect((await endOf(data.root, 'doctor', '--repair')).code).toBe(0);
  process.exitCode = 0;
  expect((await endOf(data.root, 'doctor')).stdout).not.toContain('pulls.sqlite');

  // The new ledger counts from one again, and its pulls are adopted all the same.
  pull('2026-03-10T11:40:00Z');
  expect((await endOf(data.root, 'run', 'ingest')).code).toBe(0);
  const adopted = readRecentRuns(data).runs.filter((run) => run.pipeline === 'pull north');
  expect(adopted.map(({ started_at }) => started_at)).toEqual([
    '2026-03-10T11:40:00Z',
    '2026-03-10T11:20:00Z',
    '2026-03-10T11:00:00Z',
  ]);
});
