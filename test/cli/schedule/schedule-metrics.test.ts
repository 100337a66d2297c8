import { mkdir, rename } from 'node:fs/promises';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { ScheduleMetrics } from '../../../src/cli/schedule/schedule-metrics.ts';
import { acquireSchedulerLock } from '../../../src/cli/schedule/schedule.ts';
import type { StartRun } from '../../../src/cli/schedule/schedule-lane.ts';
import { readSettings } from '../../../src/kit/config/settings.ts';
import { storageSchema } from '../../../src/kit/config/storage-settings.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { metricsListener } from '../../../src/kit/metrics/metrics-listener.ts';
import { noteOutcome } from '../../../src/pipeline/runs/pipeline-outcomes.ts';
import { RoleNote } from '../../../src/pipeline/runs/storage-role.ts';
import { sampled } from '../../../src/pipeline/status/machine-metrics.ts';
import { SqliteStore } from '../../../src/postbacks/store/sqlite-store.ts';
import { outboxRow } from '../../support/deliveries.ts';
import { asOf, smallData } from '../../e2e/small-data.ts';

const logger = createLogger({ write: () => true }, 'silent');
const pipeline = await smallData();
const { data } = pipeline;
await pipeline.refresh(asOf);
afterAll(() => pipeline[Symbol.asyncDispose]());

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
const storage = storageSchema.parse({ url: 's3://bucket/network', endpoint: 'http://127.0.0.1:1' });

it('the endpoint of a schedule answers with runs, role, last good runs, backlog and alarms, and nothing else', async () => {
  const metrics = new ScheduleMetrics(data, readSettings(data), logger);
  const start: StartRun = async ({ pipeline: name }) => (name === 'pull' ? 1 : name === 'refresh' ? 0 : 'SIGKILL');
  for (const name of ['refresh', 'refresh', 'pull', 'postbacks'])
    await metrics.counted(start)({ pipeline: name, scheduledAt: asOf });
  const failing = metrics.counted(() => Promise.reject(new Error('spawn EAGAIN')));
  await expect(failing({ pipeline: 'pull', scheduledAt: asOf })).rejects.toThrow('EAGAIN');
  await noteOutcome({ data, effects: realEffects, logger }, 'pull', new Error('no network'));
  const store = SqliteStore.open(data);
  await store.importOutbox('first', [outboxRow(1, { occurredAt: new Date(Date.now() - 3_600_000).toISOString() })]);
  await store.close();
  const lock = await acquireSchedulerLock(data.scheduleLockFile);
  const listener = metricsListener(metrics.metrics, logger);
  onTestFinished(async () => {
    lock.release();
    await listener.close();
  });
  const address = await listener.listen({ host: '127.0.0.1', port: 0 });
  const answer = await fetch(`${address}/metrics`);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const lines = linesOf(await answer.text());
  expect(lines).toEqual(
    expect.arrayContaining([
      'offerline_runs_total{pipeline="refresh",outcome="done"} 2',
      'offerline_runs_total{pipeline="pull",outcome="failed"} 2',
      'offerline_runs_total{pipeline="postbacks",outcome="killed"} 1',
      'offerline_role{role="writes"} 1',
      'offerline_role{role="stands_by"} 0',
      'offerline_pipeline_failing{pipeline="refresh"} 0',
      'offerline_pipeline_failing{pipeline="pull"} 1',
      'offerline_pipeline_last_good_age_seconds{pipeline="pull"} +Inf',
      'offerline_postbacks_backlog 1',
      'offerline_landing_missing 0',
    ]),
  );
  const valueOf = (name: string) => Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1]);
  expect(Math.round(valueOf('offerline_postbacks_backlog_oldest_seconds') / 60)).toBe(60);
  expect(lines.filter((line) => /offerline_(lease|storage_failing|storage_clock)/.test(line))).toEqual([]);
  expect((await fetch(`${address}/`)).status).toBe(404);
  expect((await fetch(`${address}/metrics`, { method: 'POST' })).status).toBe(405);
});

it('a landing folder that is gone raises its gauge and the alarms', async () => {
  await rename(data.landing, `${data.landing}-away`);
  onTestFinished(() => rename(`${data.landing}-away`, data.landing));
  const lines = linesOf(await new ScheduleMetrics(data, readSettings(data), logger).metrics.text());
  expect(lines).toContain('offerline_landing_missing 1');
  expect(lines).not.toContain('offerline_status_alarms 0');
});

it('on standby, storage that fails and a wrong clock are measured, and no pipeline of this machine is', async () => {
  const settings = { ...readSettings(data), storage };
  const lock = await acquireSchedulerLock(data.storageScheduleLockFile);
  const note = new RoleNote(data.scheduleRoleFile, storage.url, { effects: realEffects, logger });
  onTestFinished(async () => {
    lock.release();
    await note.forget();
  });
  const metrics = new ScheduleMetrics(data, settings, logger);
  await mkdir(data.warehouse, { recursive: true });
  for (const error of ['away', 'away', null]) metrics.watchRole({ role: 'stands_by', error });
  await note.report({ role: 'stands_by', error: 'away', clockOffset: -600_000 });
  const lines = linesOf(await metrics.metrics.text());
  expect(lines).toEqual(
    expect.arrayContaining([
      'offerline_role{role="stands_by"} 1',
      'offerline_storage_failing 1',
      'offerline_storage_errors_total 2',
      'offerline_storage_clock_offset_seconds -600',
    ]),
  );
  expect(lines.filter((line) => line.startsWith('offerline_pipeline_'))).toEqual([]);
  await note.report({ role: 'stands_by', writer: 'other, process 7', renewalSeenAt: new Date(0).toISOString() });
  const later = linesOf(await metrics.metrics.text());
  expect(later.some((line) => /^offerline_lease_age_seconds \d{10}$/.test(line))).toBe(true);
});

it('a dear figure is read once for its time, is left out where it fails, and comes back', async () => {
  let now = 0;
  let reads = 0;
  let isBroken = false;
  const read = sampled(
    async () => {
      reads++;
      if (isBroken) throw new Error('away');
      return reads;
    },
    1_000,
    () => now,
    logger,
  );
  expect([await read(), await read()]).toEqual([1, 1]);
  now = 1_000;
  isBroken = true;
  expect(await read()).toBeUndefined();
  now = 2_000;
  isBroken = false;
  expect(await read()).toBe(3);
});
