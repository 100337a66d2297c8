import { mkdir, rm, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { refresh } from '../../../pipelines/refresh.ts';
import { exitCode } from '../../../src/kit/errors/errors.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { plannedPipelines } from '../../../src/cli/schedule/planned-pipelines.ts';
import { parseSettings } from '../../../src/kit/config/settings.ts';
import { readRecentRuns } from '../../../src/pipeline/runs/recent-runs.ts';
import { noteRefusedRun, readRefusedRuns } from '../../../src/pipeline/runs/refused-runs.ts';
import { readStorageRole, RoleNote } from '../../../src/pipeline/runs/storage-role.ts';
import { endOf } from '../../support/commands.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { sharedPipeline } from '../../support/shared-pipeline.ts';
import { slow } from '../../support/slow.ts';

const noon = '2026-03-10T12:00:00Z';
const url = 's3://bucket/network';
const broken = ['', '{"command":', 'null', '[]', '{}', '{"role":"writes","command":7}'];
const effects = { ...realEffects, now: () => Date.parse(noon) };

const refreshed = sharedPipeline(async () => {
  const pipeline = await PipelineUnderTest.create(new Date(noon));
  await pipeline.refresh(noon);
  return pipeline;
});

/** A folder in place of the file, like a file that this user may not read. */
async function makeUnreadable(file: string): Promise<void> {
  await rm(file, { force: true });
  await mkdir(file);
}

it('an unreadable note of refused runs counts as absent, and status and doctor say so', slow, async () => {
  const { data } = await refreshed();
  const warning = /refused-runs\.json (is not as it was written|cannot be read \(EISDIR\)), and counts as absent/;
  const expectTold = async () => {
    expect(readRefusedRuns(data)).toBeNull();
    const { code, stdout, stderr } = await endOf(data.root, 'status');
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: expect.stringMatching(warning) as string, stderr: '' });
    expect((await endOf(data.root, 'doctor')).stdout).toMatch(warning);
    process.exitCode = exitCode.done;
  };
  for (const text of broken) {
    await writeFile(data.refusedRunsFile, text);
    await expectTold();
  }
  // The next one that is refused puts it right.
  const logger = createLogger({ write: () => true }, 'silent');
  await noteRefusedRun({ data, effects, logger }, 'run refresh', new Error('no room'));
  expect(readRefusedRuns(data)).toMatchObject({ error: 'no room', times: 1 });
  await makeUnreadable(data.refusedRunsFile);
  await expectTold();
  // So does one that is good.
  await refresh({ data, terminal: { logger, progress: noProgress } }, effects);
  expect((await endOf(data.root, 'status')).stdout).not.toContain('refused-runs');
});

it('a note of the role with storage that cannot be read counts as absent, too, and is said once', async () => {
  const storage = { url, endpoint: 'http://127.0.0.1:1', access_key_id: 'id', secret_access_key: 'very/secret+key' };
  await using pipeline = await PipelineUnderTest.create(new Date(noon), { settings: { storage } });
  const { data } = pipeline;
  await mkdir(data.warehouse, { recursive: true });
  let logged = '';
  const logger = createLogger({ write: (line: string) => ((logged += line), true) });
  const warning = /schedule-role\.json (is not as it was written|cannot be read \(EISDIR\)), and counts as absent/g;
  const expectTold = async () => {
    expect(readStorageRole(data.scheduleRoleFile, url)).toBeUndefined();
    expect((await endOf(data.root, 'status')).stdout).toMatch(warning);
    logged = '';
    const note = new RoleNote(data.scheduleRoleFile, url, { effects, logger });
    await note.report({ role: 'stands_by' });
    expect(logged.match(warning)).toHaveLength(1);
  };
  for (const text of broken) {
    await writeFile(data.scheduleRoleFile, text);
    await expectTold();
    expect(readStorageRole(data.scheduleRoleFile, url)).toMatchObject({ role: 'stands_by' });
  }
  await makeUnreadable(data.scheduleRoleFile);
  await expectTold();
});

it('an unreadable copy of the run ledger counts as absent, until the next run writes it', slow, async () => {
  const pipeline = await refreshed();
  const { data } = pipeline;
  const logger = createLogger({ write: () => true }, 'silent');
  const warning = /recent-runs\.json (is not as it was written|cannot be read \(EISDIR\)), and counts as absent/g;
  const expectTold = async () => {
    expect(readRecentRuns(data)).toEqual({ scheduled: {}, runs: [] });
    const { code, stdout, stderr } = await endOf(data.root, 'status');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.match(warning)).toHaveLength(1);
    expect((await endOf(data.root, 'doctor')).stdout.match(warning)).toHaveLength(1);
    process.exitCode = exitCode.done;
    const runs = { code: 0, stdout: '(none)\n', stderr: expect.stringMatching(warning) as string };
    expect(await endOf(data.root, 'runs')).toEqual(runs);
    const [refreshing] = await plannedPipelines(data, parseSettings('{}', 'offerline.json'), logger);
    expect(refreshing).toMatchObject({ name: 'refresh', coveredUntil: Date.parse(noon) });
  };
  for (const text of [...broken, '{"pid":1,"scheduled":{},"runs":[{"run_id":1}]}']) {
    await writeFile(data.recentRunsFile, text);
    await expectTold();
  }
  await pipeline.ingest(noon);
  expect(readRecentRuns(data).runs.map(({ pipeline: name }) => name)).toEqual(['ingest', 'refresh']);
  expect((await endOf(data.root, 'status')).stdout).not.toContain('recent-runs');
  await makeUnreadable(data.recentRunsFile);
  await expectTold();
});
