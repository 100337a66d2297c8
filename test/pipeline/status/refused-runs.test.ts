import { stat } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { maintenance } from '../../../pipelines/maintenance.ts';
import { refresh } from '../../../pipelines/refresh.ts';
import { readSettings } from '../../../src/kit/config/settings.ts';
import { exitCode } from '../../../src/kit/errors/errors.ts';
import { realEffects, type Effects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { acquireWriterLock } from '../../../src/pipeline/runs/lock.ts';
import { readStatus } from '../../../src/pipeline/status/status.ts';
import { offerline } from '../../support/command-line.ts';
import { endOf } from '../../support/commands.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { sharedPipeline } from '../../support/shared-pipeline.ts';
import { slow } from '../../support/slow.ts';

const noon = '2026-03-10T12:00:00Z';
const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const at = (time: string): Effects => ({ ...realEffects, now: () => Date.parse(time) });

const refreshed = sharedPipeline(async () => {
  const pipeline = await PipelineUnderTest.create(new Date(noon));
  await pipeline.refresh(noon);
  return pipeline;
});

/** Nobody listens there. */
const awayStorage = {
  url: 's3://bucket/network',
  endpoint: 'http://127.0.0.1:1',
  access_key_id: 'id',
  secret_access_key: 'very/secret+key',
};

it('a run that storage refuses is in no ledger: status shows it and exits 1, until a run is good', slow, async () => {
  const pipeline = await refreshed();
  const { data } = pipeline;
  await pipeline.configure({ storage: awayStorage });
  for (const _ of [1, 2]) expect((await offerline(data.root, 'run', 'refresh')).code).toBe(1);

  const { code, stdout, stderr } = await endOf(data.root, 'status');
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringMatching(
      /needs attention\n.*run refresh failed, 2 times since .*: s3:\/\/bucket\/network cannot read current\.json: no whole answer \(ECONNREFUSED\).*\n {4}do: offerline run refresh/,
    ) as string,
  });
  expect(stderr).toContain('run refresh failed, 2 times since');
  expect(stdout + stderr).not.toContain('secret+key');
  const doctor = await endOf(data.root, 'doctor');
  expect(doctor.stdout).toMatch(/TROUBLE {2}runs: run refresh failed, 2 times since/);
  process.exitCode = exitCode.done;
  expect((await stat(data.refusedRunsFile)).mode & 0o777).toBe(0o600);
  expect(JSON.parse((await endOf(data.root, 'status', '--json')).stdout)).toMatchObject({
    refused_runs: { command: 'run refresh', times: 2, busy: false },
  });

  await pipeline.configure({});
  await pipeline.refresh('2026-03-10T12:05:00Z');
  expect((await endOf(data.root, 'status')).code).toBe(0);
});

it('a run whose end is not brought to storage is shown, too, though the ledger has it as done', slow, async () => {
  const pipeline = await refreshed();
  const { data } = pipeline;
  // The copy of the state, like publishing to storage, comes after the end of the run in the ledger.
  const effects = at('2026-03-10T12:05:00Z');
  const copyFile: typeof effects.files.copyFile = (from, to, step) =>
    step.startsWith('state copy') ? Promise.reject(new Error('made to fail')) : effects.files.copyFile(from, to, step);
  const files = { ...effects.files, copyFile };
  await pipeline.landOffers('net', [{ external_id: 'e', title: 'Offer', payout: '1' }]);
  await expect(refresh({ data, terminal }, { ...effects, files })).rejects.toThrow('made to fail');
  const { alarms, last_failure } = await readStatus(data, readSettings(data), Date.parse('2026-03-10T12:10:00Z'));
  expect({ alarms, last_failure }).toEqual({
    alarms: ['run refresh failed at 2026-03-10T12:05:00Z: made to fail'],
    last_failure: null,
  });
});

it('one that finds another at work waits for its turn; again and again is shown', slow, async () => {
  const pipeline = await refreshed();
  const { data } = pipeline;
  await pipeline.configure({ lock_wait_seconds: 0 });
  const lock = await acquireWriterLock(data, { command: 'doctor', waitSeconds: 0, onWaiting: () => undefined });
  const busy = (time: string) =>
    expect(refresh({ data, terminal, scheduledAt: time }, at(time))).rejects.toThrow('is busy');
  const alarms = async () => (await readStatus(data, readSettings(data), Date.parse('2026-03-10T12:20:00Z'))).alarms;
  try {
    await busy('2026-03-10T12:05:00Z');
    expect(await alarms()).toEqual([]);
    await busy('2026-03-10T12:10:00Z');
    expect(await alarms()).toEqual([
      expect.stringMatching(/^run refresh failed, 2 times since 2026-03-10T12:05:00Z: .*"doctor"/) as string,
    ]);
  } finally {
    lock.release();
  }
  await pipeline.refresh('2026-03-10T12:15:00Z');
  expect(await alarms()).toEqual([]);
});

it('one that its own options forbid is reported to its caller alone', async () => {
  const pipeline = await refreshed();
  const { data } = pipeline;
  expect((await endOf(data.root, 'run', 'refresh', '--as-of', '2026-03-01T00:00:00Z')).code).toBe(2);
  expect((await endOf(data.root, 'run', 'refresh', '--as-of', '2999-03-01T00:00:00Z')).code).toBe(2);
  await pipeline.configure({ storage: { ...awayStorage, follow: true } });
  expect((await endOf(data.root, 'run', 'refresh')).code).toBe(2);
  await pipeline.configure({});
  expect((await endOf(data.root, 'status')).code).toBe(0);
});

it('one whose warehouse cannot be opened is shown', async () => {
  const pipeline = await refreshed();
  const { data } = pipeline;
  const failing: Effects = {
    ...at('2026-03-10T12:05:00Z'),
    perform: (step, work) => (step === 'begin of run: committed' ? Promise.reject(new Error('no room')) : work()),
  };
  await expect(refresh({ data, terminal }, failing)).rejects.toThrow('no room');
  const { alarms } = await readStatus(data, readSettings(data), Date.parse('2026-03-10T12:10:00Z'));
  expect(alarms).toEqual(['run refresh failed at 2026-03-10T12:05:00Z: no room']);
});

it('maintenance that is refused night after night is shown, whatever other runs are good', slow, async () => {
  const pipeline = await refreshed();
  const { data } = pipeline;
  await pipeline.configure({ lock_wait_seconds: 0 });
  const refused = async (time: string) => {
    const lock = await acquireWriterLock(data, { command: 'run refresh', waitSeconds: 0, onWaiting: () => undefined });
    try {
      await expect(maintenance({ data, terminal }, at(time))).rejects.toThrow('is busy');
      // The refresh of the day has its own note, which the next good one removes.
      await expect(refresh({ data, terminal }, at(time))).rejects.toThrow('is busy');
    } finally {
      lock.release();
    }
    await refresh({ data, terminal }, at(time.replace(':30:', ':40:')));
  };
  const alarms = async () => (await readStatus(data, readSettings(data), Date.parse('2026-03-13T04:00:00Z'))).alarms;
  await refused('2026-03-11T03:30:00Z');
  await refused('2026-03-12T03:30:00Z');
  const shown = expect.stringMatching(/^run maintenance failed, 2 times since 2026-03-11T03:30:00Z: .*busy/) as string;
  expect(await alarms()).toEqual([shown]);
  await maintenance({ data, terminal }, at('2026-03-13T03:30:00Z'));
  expect(await alarms()).toEqual([]);
});

it('maintenance of the schedule waits for the refresh of its minute, until it is asked to end', slow, async () => {
  const pipeline = await refreshed();
  const { data } = pipeline;
  await pipeline.configure({ lock_wait_seconds: 0 });
  const night = '2026-03-11T03:30:00Z';
  const waiting = async (stop?: AbortSignal) => {
    const lock = await acquireWriterLock(data, { command: 'run refresh', waitSeconds: 0, onWaiting: () => undefined });
    let isWaiting = false;
    const logger = createLogger(
      { write: (line) => void (isWaiting ||= line.includes('Waiting up to 1800 s')) },
      'info',
    );
    const request = { data, terminal: { logger, progress: noProgress }, scheduledAt: night, stop };
    const run = maintenance(request, at(night));
    run.catch(() => undefined);
    await expect.poll(() => isWaiting).toBe(true);
    return { run, lock };
  };
  const stop = new AbortController();
  const stopped = await waiting(stop.signal);
  stop.abort();
  await expect(stopped.run).rejects.toThrow('was asked to end while it waited for the warehouse');
  stopped.lock.release();
  expect((await readStatus(data, readSettings(data), Date.parse(night))).alarms).toEqual([]);
  const patient = await waiting();
  patient.lock.release();
  expect(await patient.run).toMatchObject({ retired: [] });
});
