import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noteOutcome, readOutcome } from '../../../src/pipeline/runs/pipeline-outcomes.ts';
import { noteRefusedRun, readRefusedRuns } from '../../../src/pipeline/runs/refused-runs.ts';
import { notedRuns } from '../../../src/cli/schedule/noted-runs.ts';
import type { StartRun } from '../../../src/cli/schedule/schedule-lane.ts';

const noon = '2026-03-10T12:00:00Z';
const effects = { ...realEffects, now: () => Date.parse(noon) };
const logger = createLogger({ write: () => true }, 'silent');
let data: DataDirectory;
beforeEach(async () => {
  data = new DataDirectory(await mkdtemp(join(tmpdir(), 'offerline-noted-')));
  await mkdir(data.warehouse);
});
afterEach(() => rm(data.root, { recursive: true }));

const noting = (isStopping = false) => ({ data, effects, logger, isStopping: () => isStopping });
const after = async (start: StartRun, pipeline = 'refresh', isStopping = false) => {
  await notedRuns(start, noting(isStopping))({ pipeline, scheduledAt: noon }).catch(() => undefined);
  return readRefusedRuns(data);
};

it('a scheduled run whose process is gone without a word is noted', async () => {
  expect(await after(async () => 'SIGKILL')).toMatchObject({
    command: 'run refresh',
    at: noon,
    error: 'its process ended by SIGKILL',
    times: 1,
  });
  expect(await after(async () => 7)).toMatchObject({ error: 'its process ended with exit code 7' });
  expect(await after(() => Promise.reject(new Error('spawn EAGAIN')))).toMatchObject({
    error: 'its process could not be started: spawn EAGAIN',
    times: 3,
  });
});

it('one that was good, was never begun, is ended with the schedule or is no run of the ledger is not', async () => {
  expect(await after(async () => 0)).toBeNull();
  expect(await after(async () => null)).toBeNull();
  expect(await after(async () => 'SIGTERM', 'refresh', true)).toBeNull();
  expect(await after(async () => 1, 'postbacks')).toBeNull();
});

it('what the run has noted itself is not noted again', async () => {
  const refused: StartRun = async () => {
    await noteRefusedRun(noting(), 'run refresh', new Error('storage is away'));
    return 1;
  };
  expect(await after(refused)).toMatchObject({ error: 'storage is away', times: 1 });
});

it('the outcome of one whose process is gone without a word is noted for any pipeline', async () => {
  const ended = async (pipeline: string, end: number | 'SIGKILL' | null) => {
    await notedRuns(async () => end, noting())({ pipeline, scheduledAt: noon });
    return readOutcome(data, pipeline);
  };
  expect(await ended('postbacks', 0)).toBeUndefined();
  expect(await ended('postbacks', 3)).toBeUndefined();
  expect(await ended('postbacks', 'SIGKILL')).toMatchObject({ outcome: 'failed', at: noon, last_good_at: null });
  expect(await ended('refresh', 7)).toMatchObject({ error: 'its process ended with exit code 7' });
  await noteOutcome(noting(), 'pull');
  expect(await ended('pull', null)).toMatchObject({ outcome: 'done' });
  const own: StartRun = async () => (await noteOutcome(noting(), 'pull', new Error('its own words')), 1);
  await notedRuns(own, noting())({ pipeline: 'pull', scheduledAt: noon });
  expect(readOutcome(data, 'pull')).toMatchObject({ error: 'its own words', last_good_at: noon });
});

it('where notes cannot be read the run is begun all the same, and what becomes of it is told', async () => {
  await writeFile(data.refusedRunsFile, '{"command":');
  let begun = 0;
  const good: StartRun = async () => (begun++, 0);
  expect(await notedRuns(good, noting())({ pipeline: 'refresh', scheduledAt: noon })).toBe(0);
  expect(await notedRuns(good, noting())({ pipeline: 'postbacks', scheduledAt: noon })).toBe(0);
  expect(begun).toBe(2);
  expect(await after(async () => 'SIGKILL')).toMatchObject({ error: 'its process ended by SIGKILL', times: 1 });

  await rm(data.refusedRunsFile);
  await writeFile(data.recentRunsFile, '');
  expect(await notedRuns(async () => 7, noting())({ pipeline: 'refresh', scheduledAt: noon })).toBe(7);
  const unborn = notedRuns(() => Promise.reject(new Error('spawn EAGAIN')), noting());
  await expect(unborn({ pipeline: 'refresh', scheduledAt: noon })).rejects.toThrow('spawn EAGAIN');
});
