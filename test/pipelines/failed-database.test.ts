import { rm, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { runPipeline } from '../../pipelines/run-pipeline.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { readRecentRuns } from '../../src/pipeline/runs/recent-runs.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';

const silent = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const noon = '2026-03-10T12:00:00Z';

it('a run whose database fails for good ends with its reason, and the next run goes on', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  const { data } = pipeline;
  await writeFile(data.settingsFile, JSON.stringify({ duckdb: { memory_limit: '20MB', threads: 1 } }));
  const request = { data, terminal: silent, asOf: noon };
  const failing = runPipeline('refresh', request, async ({ run, state, stage }) => {
    await stage(
      {
        name: 'ingest',
        run: async () => {
          await state.connection.run('CREATE TEMP TABLE large AS SELECT uuid()::VARCHAR AS word FROM range(1_000_000)');
          // A disk may lose it.
          await rm(run.data.spill, { recursive: true });
          await state.connection.run('CREATE TEMP TABLE larger AS SELECT DISTINCT word FROM large');
          return {};
        },
      },
      undefined,
    );
    return {};
  });
  const { message } = (await failing.catch((error: unknown) => error)) as Error;
  expect(message).not.toContain('invalidated');
  expect(readRecentRuns(data).runs[0]).toMatchObject({
    status: 'failed',
    error: message,
    finished_at: expect.any(String) as string,
    stages: [{ stage: 'ingest', status: 'failed', error: message }],
  });
  await runPipeline('refresh', request, () => Promise.resolve({}));
  expect(readRecentRuns(data).runs.map(({ status }) => status)).toEqual(['done', 'failed']);
});
