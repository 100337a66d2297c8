import { expect, it } from 'vitest';
import { refresh } from '../../pipelines/refresh.ts';
import { runPipeline } from '../../pipelines/run-pipeline.ts';
import { realEffects, type Effects } from '../../src/kit/files/effects.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { readRecentRuns } from '../../src/pipeline/runs/recent-runs.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { slow } from '../support/slow.ts';

const silent = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const noon = '2026-03-10T12:00:00Z';

it('a run that is asked to end does so after its stage, and the next run goes on', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  await pipeline.landOffers('net', [{ id: 1, external_id: 'one', title: 'One', payout: '1' }]);
  await pipeline.landLog('clicks', 'ndjson', [
    { click_id: 'c', offer_id: 1, site_key: 's', user_id: 'u', clicked_at: '2026-03-10T11:00:00Z' },
  ]);
  const request = { data: pipeline.data, terminal: silent, asOf: noon, scheduledAt: noon };
  const stopping = new AbortController();
  // The signal comes while ingest commits.
  const perform: Effects['perform'] = (step, work) => {
    if (step === 'ingest: committed') stopping.abort();
    return work();
  };
  await expect(refresh({ ...request, stop: stopping.signal }, { ...realEffects, perform })).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringContaining('what is done stays done') as string,
  });
  const interrupted = readRecentRuns(pipeline.data);
  expect(interrupted.runs[0]).toMatchObject({
    status: 'interrupted',
    scheduled_at: noon,
    stages: [{ stage: 'ingest', status: 'done', rows_out: 2 }],
  });
  expect(interrupted.scheduled).toEqual({});

  const { ingested } = await refresh(request);
  expect(ingested.files).toBe(0);
  expect(await pipeline.ask('SELECT clicks FROM offer_stats_2d')).toEqual([{ clicks: 1 }]);
  expect(readRecentRuns(pipeline.data).scheduled).toEqual({ refresh: noon });
  expect(await pipeline.ask('SELECT run_id, scheduled_at, status FROM runs ORDER BY run_id')).toEqual([
    { run_id: 1, scheduled_at: noon, status: 'interrupted' },
    { run_id: 2, scheduled_at: noon, status: 'running' },
  ]);
});

it('a stage that goes on for long is interrupted, and nothing of it is kept', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  const stopping = new AbortController();
  const request = { data: pipeline.data, terminal: silent, asOf: noon, stop: stopping.signal };
  const running = runPipeline('refresh', request, async ({ state, stage }) => {
    const run = async () => {
      await state.transaction(async () => {
        await state.connection.run('CREATE TABLE half_done AS SELECT 1 AS one');
        stopping.abort();
        await state.connection.run(
          'CREATE TABLE done AS SELECT count(*) AS n FROM range(10_000_000_000) AS a, range(99)',
        );
      });
      return {};
    };
    await stage({ name: 'models', run }, undefined);
    return {};
  });
  await expect(running).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringContaining('nothing of that stage is kept, and the next run does it again') as string,
  });
  expect(readRecentRuns(pipeline.data).runs[0]).toMatchObject({
    status: 'interrupted',
    error: expect.stringContaining('models was interrupted') as string,
    stages: [{ stage: 'models', status: 'interrupted' }],
  });
  await runPipeline('refresh', { ...request, stop: undefined }, async ({ state }) => {
    await state.connection.run('CREATE TABLE half_done AS SELECT 2 AS two');
    return {};
  });
});
