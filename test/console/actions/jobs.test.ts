import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ActionBusyError, StalePreviewError } from '../../../src/console/actions/action-errors.ts';
import type { Job } from '../../../src/console/actions/job.ts';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';
import { acquireWriterLock } from '../../../src/pipeline/runs/lock.ts';
import { changeState } from '../../support/change-state.ts';
import { nodeArguments } from '../../support/command-line.ts';
import { outboxRow } from '../../support/deliveries.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { asOf, clicks, smallData } from '../../e2e/small-data.ts';
import { act, asker, ended, openJobs, silentNetwork } from './action-tests.ts';
import { slow } from '../../support/slow.ts';

const secret = 'a-secret-of-the-first-site';
async function emptyPipeline(sites: readonly object[] = []): Promise<PipelineUnderTest> {
  const pipeline = await PipelineUnderTest.create(new Date(asOf), { sites, settings: { lock_wait_seconds: 0 } });
  onTestFinished(() => pipeline[Symbol.asyncDispose]());
  return pipeline;
}

const auditFile = ({ data }: PipelineUnderTest) => join(data.console, 'actions.ndjson');

async function auditOf(pipeline: PipelineUnderTest): Promise<Record<string, any>[]> {
  const text = await readFile(auditFile(pipeline), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, any>);
}

describe('a whole action', () => {
  it('retries all dead postbacks of a filter, beyond any page, and no others', slow, async () => {
    const pipeline = await emptyPipeline();
    const store = SqliteStore.open(pipeline.data);
    const occurredAt = (index: number) => (index < 10 ? '2026-11-01T00:00:00Z' : '2026-11-20T09:59:00Z');
    const rows = Array.from({ length: 360 }, (_, index) =>
      outboxRow(index + 1, { siteKey: index < 340 ? 's' : 't', occurredAt: occurredAt(index) }),
    );
    await store.importOutbox('warehouse', rows);
    store.database.write(() => store.database.prepare(`UPDATE postbacks SET state = 'dead'`).run());
    const given = { site: 's', since: '2026-11-10T00:00:00Z', until: '', ids: '' };
    const jobs = await openJobs(pipeline.data);
    expect((await jobs.preview('retry-postbacks', given)).counts).toEqual({ postbacks: 330, sites: 1 });
    expect((await act(jobs, 'retry-postbacks', given)).end).toMatchObject({ counts: { postbacks_revived: 330 } });
    expect(await store.count({ state: 'dead' })).toBe(30);
    expect(await store.count({ state: 'dead', site: 's', until: '2026-11-10T00:00:00Z' })).toBe(10);
    // One of these ids looks like an option.
    await expect(jobs.preview('retry-postbacks', { ids: 'w1 --all' })).rejects.toThrow('conversion id --all');
    await store.close();
  });

  it('backfills, with counts', slow, async () => {
    const pipeline = await smallData({ lock_wait_seconds: 0 });
    onTestFinished(() => pipeline[Symbol.asyncDispose]());
    await pipeline.refresh('2025-03-12T12:00:00Z');
    const jobs = await openJobs(pipeline.data);
    const given = { from: '2025-03-10', to: '2025-03-11', all: 'on' };
    expect(await act(jobs, 'backfill', given)).toMatchObject({ state: 'done', end: { counts: { reports: 2 } } });
  });
});

describe('a preview', () => {
  it('that is stale is refused, and nothing starts', slow, async () => {
    const pipeline = await emptyPipeline();
    await pipeline.landLog('clicks', 'ndjson', clicks('first', 3, '2025-03-10T09:30:00Z'));
    const jobs = await openJobs(pipeline.data);
    const { digest } = await jobs.preview('refresh', {});
    expect((await jobs.preview('refresh', {})).digest).toBe(digest);
    await pipeline.landLog('clicks', 'ndjson', clicks('second', 3, '2025-03-10T09:30:00Z'));
    await expect(jobs.start('refresh', {}, digest, asker())).rejects.toThrow(StalePreviewError);
    expect(jobs.list()).toEqual([]);
    // The action is free again.
    const job = await act(jobs, 'refresh');
    const { current } = await pipeline.snapshots();
    expect(job.end).toMatchObject({ runId: 1, snapshotId: current, counts: { files: 2, rows: 6 } });
    expect((await jobs.find(job.id))?.lines.map(({ text }) => text)).toContain('done: publish');
    expect((await auditOf(pipeline)).at(-1)).toMatchObject({ run_id: 1, snapshot_id: current });
  });

  it('names a busy warehouse, and a wrong parameter', slow, async () => {
    const pipeline = await emptyPipeline();
    const jobs = await openJobs(pipeline.data);
    const lock = await acquireWriterLock(pipeline.data, { command: 'a test', waitSeconds: 0, onWaiting: () => {} });
    onTestFinished(() => lock.release());
    await expect(jobs.preview('refresh', {})).rejects.toMatchObject({
      status: 503,
      message: expect.stringMatching(/another run holds it.*"a test"/) as string,
    });
    await expect(jobs.preview('test-postback', { site_key: 'none' })).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('there is no site none') as string,
    });
    await expect(async () => jobs.preview('accept-export', { file_id: '1 --dry' })).rejects.toThrow('file_id');
    await expect(async () => jobs.preview('retry-postbacks', {})).rejects.toThrow('choose ids');
    await expect(async () => jobs.preview('rebuild', {})).rejects.toMatchObject({ status: 404 });
  });
});

describe('a start', () => {
  it('sent twice is one job, at once, later and after a restart', slow, async () => {
    const pipeline = await emptyPipeline();
    const jobs = await openJobs(pipeline.data);
    const { digest } = await jobs.preview('pull', {});
    const form = asker();
    const [one, other] = await Promise.all([
      jobs.start('pull', {}, digest, form),
      jobs.start('pull', {}, digest, form),
    ]);
    expect(other.id).toBe(one.id);
    expect(await ended(jobs, one)).toMatchObject({ state: 'done', end: { counts: { sources_pulled: 0 } } });
    expect((await jobs.start('pull', {}, digest, form)).id).toBe(one.id);
    const afterwards = await openJobs(pipeline.data);
    expect(await afterwards.start('pull', {}, digest, form)).toMatchObject({ id: one.id, state: 'done' });
    expect((await auditOf(pipeline)).map(({ type }) => type)).toEqual(['intent', 'outcome']);
    // Another form starts another job.
    expect((await act(jobs, 'pull')).id).not.toBe(one.id);
  });

  it('of a running action is refused; a stop asks that job to end, and logs it', slow, async () => {
    const pipeline = await emptyPipeline();
    const { asked } = await silentNetwork(pipeline.data);
    const jobs = await openJobs(pipeline.data);
    const { digest } = await jobs.preview('pull', {});
    const job = await jobs.start('pull', {}, digest, asker());
    expect(job).toMatchObject({ state: 'running', stateText: 'running', end: null });
    await asked;
    await expect(jobs.start('pull', {}, digest, asker())).rejects.toThrow(ActionBusyError);
    await jobs.stop();
    expect((await jobs.find(job.id))?.job).toMatchObject({ state: 'stopped', end: { exitCode: 1 } });
    expect((await auditOf(pipeline)).at(-1)).toMatchObject({ type: 'outcome', state: 'stopped' });
    await expect(jobs.start('pull', {}, digest, asker())).rejects.toMatchObject({ status: 503 });
  });
});

describe('the end of a job', () => {
  it('after a kill of the command', slow, async () => {
    const pipeline = await emptyPipeline();
    const { asked, pullingProcess } = await silentNetwork(pipeline.data);
    const jobs = await openJobs(pipeline.data);
    const { digest } = await jobs.preview('pull', {});
    const job = await jobs.start('pull', {}, digest, asker());
    await asked;
    process.kill(pullingProcess(), 'SIGKILL');
    expect(await ended(jobs, job)).toMatchObject({
      state: 'killed',
      stateText: expect.stringContaining('SIGKILL') as string,
      end: { exitCode: null, signal: 'SIGKILL', counts: {} },
    });
  });

  it('after a kill of the console: unknown until the command has answered; the command goes on', slow, async () => {
    const pipeline = await emptyPipeline();
    const { asked, pullingProcess } = await silentNetwork(pipeline.data);
    const script = fileURLToPath(new URL('console-process.ts', import.meta.url));
    const console = spawn(process.execPath, [...nodeArguments, script, pipeline.data.root], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(console.stdout, 'data')) as [Buffer];
    const id = line.toString().trim();
    await asked;
    console.kill('SIGKILL');
    await once(console, 'exit');
    const pulling = pullingProcess();

    const jobs = await openJobs(pipeline.data);
    const unknown = (await jobs.find(id))?.job;
    expect(unknown).toMatchObject({
      state: 'unknown',
      stateText: expect.stringContaining('the console ended') as string,
    });
    process.kill(pulling, 'SIGTERM');
    await vi.waitFor(
      async () => expect((await jobs.find(id))?.job.stateText).toContain('ended after the console'),
      30_000,
    );
    expect((await jobs.find(id))?.lines.at(-1)?.text).toContain('it was asked to end');
  });

  it('with a failed audit', slow, async () => {
    const pipeline = await smallData({ lock_wait_seconds: 0 });
    onTestFinished(() => pipeline[Symbol.asyncDispose]());
    await pipeline.refresh(asOf);
    await changeState(pipeline.data, 'UPDATE click_hourly SET clicks = clicks + 1');
    const jobs = await openJobs(pipeline.data);
    const job = await act(jobs, 'refresh');
    expect(job).toMatchObject({ state: 'failed', end: { exitCode: 4, runId: null } });
    expect(job.stateText).toContain('an audit failed');
    expect(job.end?.error).toMatch(/^Nothing was published/);
  });

  it('is read beside an incomplete line, and the next line is whole', slow, async () => {
    const pipeline = await emptyPipeline();
    const jobs = await openJobs(pipeline.data);
    const job = await act(jobs, 'pull');
    await appendFile(auditFile(pipeline), '{"type":"intent","at":"2026-11-2');
    const after = await openJobs(pipeline.data);
    expect(after.list()).toEqual([job]);
    const next = await act(after, 'pull');
    expect((await openJobs(pipeline.data)).list()).toEqual([next, job] satisfies Job[]);
  });

  it('has no secret, in any file', slow, async () => {
    const url = `http://127.0.0.1:9/in?token=hidden-token&c={click_id}`;
    const pipeline = await emptyPipeline([{ site_key: 's', site_secret: secret, postback: { url } }]);
    const jobs = await openJobs(pipeline.data, { OFFERLINE_ALLOW_PRIVATE_POSTBACKS: '1' });
    const job = await act(jobs, 'test-postback', { site_key: 's' });
    expect(job).toMatchObject({ state: 'failed', end: { exitCode: 1, counts: { delivered: 0 } } });
    expect(job.end?.error).toContain('the test postback to site s at 127.0.0.1:9 failed');
    const entries = await readdir(pipeline.data.console, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    expect(files).toHaveLength(3);
    for (const file of files) {
      expect(await readFile(file, 'utf8')).not.toMatch(/hidden-token|a-secret-of/);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
  });
});

it('opening fails where the folder cannot be made', async () => {
  const pipeline = await emptyPipeline();
  await writeFile(join(pipeline.data.root, 'console'), 'in the way of its folder');
  const jobs = openJobs(pipeline.data);
  await expect(jobs).rejects.toThrow();
});

it('the outcome is logged even where the files of the process are gone', slow, async () => {
  const pipeline = await emptyPipeline();
  const network = await silentNetwork(pipeline.data);
  const jobs = await openJobs(pipeline.data);
  const { digest } = await jobs.preview('pull', {});
  const job = await jobs.start('pull', {}, digest, asker());
  await network.asked;
  for (const ending of ['answer.json', 'log.ndjson']) {
    const file = join(pipeline.data.console, 'jobs', `${job.id}.${ending}`);
    await rm(file);
    await mkdir(file);
  }
  process.kill(network.pullingProcess(), 'SIGKILL');
  await jobs.ended(job.id);
  const [, outcome] = await auditOf(pipeline);
  expect(outcome).toMatchObject({ state: 'killed', error: 'the reason is not known: the log cannot be read (EISDIR)' });
});
