import { stat, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { deliverPostbacks } from '../../../pipelines/postbacks.ts';
import { pullSources } from '../../../pipelines/pull.ts';
import type { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { acquireDeliveryLock } from '../../../src/postbacks/store/delivery-lock.ts';
import { readOutcome } from '../../../src/pipeline/runs/pipeline-outcomes.ts';
import type { Status } from '../../../src/pipeline/status/status.ts';
import { endOf } from '../../support/commands.ts';
import { asOf, smallData } from '../../e2e/small-data.ts';
import { sharedPipeline } from '../../support/shared-pipeline.ts';
import { slow } from '../../support/slow.ts';

const later = '2025-03-10T12:05:00Z';
const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

const refreshed = sharedPipeline(async () => {
  const pipeline = await smallData();
  await pipeline.refresh(asOf);
  return pipeline;
});

async function statusOf({ root }: DataDirectory) {
  const { code, stdout } = await endOf(root, 'status', '--json');
  return { code, ...(JSON.parse(stdout) as Status) };
}

it('status shows how each pipeline ended last, also one that could not begin, and when it was good', slow, async () => {
  const pipeline = await refreshed();
  const { data } = pipeline;
  const good = { pipeline: 'refresh', outcome: 'done', at: asOf, error: null, last_good_at: asOf };
  expect(readOutcome(data, 'refresh')).toEqual(good);
  expect((await stat(data.outcomeFile('refresh'))).mode & 0o777).toBe(0o600);
  // A request that is refused says nothing of the pipeline.
  await expect(pipeline.refresh('2025-03-10T11:00:00Z')).rejects.toThrow('older');
  expect(readOutcome(data, 'refresh')).toEqual(good);

  await pipeline.configure({ storage: { url: 's3://bucket/network', endpoint: 'http://127.0.0.1:1' } });
  await expect(pipeline.refresh(later)).rejects.toThrow();
  expect(await statusOf(data)).toMatchObject({
    code: 1,
    pipelines: [{ ...good, outcome: 'failed', at: later, error: expect.any(String) as string }],
  });
  expect((await endOf(data.root, 'status')).stdout).toMatch(/pipeline +last run +ended +last good/);
  await pipeline.configure({});
  await pipeline.refresh(later);
  expect(readOutcome(data, 'refresh')).toEqual({ ...good, at: later, last_good_at: later });
});

it('a pass over postbacks that failed is an alarm until one is good', slow, async () => {
  const { data } = await refreshed();
  const deliver = () => deliverPostbacks({ data, terminal, command: 'test', waitSeconds: 0 });
  await deliver();
  const lock = await acquireDeliveryLock(data, { command: 'test', waitSeconds: 0, onWaiting: () => undefined });
  await expect(deliver()).rejects.toThrow();
  lock.release();
  expect(readOutcome(data, 'postbacks')).toMatchObject({ outcome: 'done' });

  await writeFile(data.sitesFile, '{"sites":7}');
  await expect(deliver()).rejects.toThrow();
  await writeFile(data.sitesFile, '{"sites":[]}');
  const failed = await statusOf(data);
  expect(failed).toMatchObject({
    code: 1,
    alarms: [
      expect.stringMatching(/^the last pass over postbacks failed at .*sites\.json .*: line 1: sites is/) as string,
    ],
    to_do: [{ command: 'offerline postbacks deliver', alarm: true }],
  });
  await deliver();
  expect(await statusOf(data)).toMatchObject({ code: 0, alarms: [] });
});

it('a pull of all sources that could not begin is noted, one of named sources is the ledger’s alone', async () => {
  await using pipeline = await smallData();
  const { data } = pipeline;
  await writeFile(data.sourcesFile, '{');
  const stop = new AbortController().signal;
  await expect(pullSources({ data, terminal, stop, names: ['net'] })).rejects.toThrow();
  expect(readOutcome(data, 'pull')).toBeUndefined();
  await expect(pullSources({ data, terminal, stop })).rejects.toThrow();
  expect(readOutcome(data, 'pull')).toMatchObject({ outcome: 'failed', last_good_at: null });
  await writeFile(data.sourcesFile, '{"sources":[]}');
  await pullSources({ data, terminal, stop });
  expect(readOutcome(data, 'pull')).toMatchObject({ outcome: 'done' });
});

it('a pass over postbacks that was asked to end is stopped, and no good one', slow, async () => {
  const { data } = await refreshed();
  const request = { data, terminal, command: 'test', waitSeconds: 0 };
  await deliverPostbacks({ ...request, stop: AbortSignal.abort() });
  expect(readOutcome(data, 'postbacks')).toMatchObject({ outcome: 'stopped', last_good_at: null });
  await deliverPostbacks({ ...request, stop: new AbortController().signal });
  expect(readOutcome(data, 'postbacks')).toMatchObject({ outcome: 'done' });
});
