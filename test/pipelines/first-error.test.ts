import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { refresh } from '../../pipelines/refresh.ts';
import { runPipeline } from '../../pipelines/run-pipeline.ts';
import { AuditError, exitCode } from '../../src/kit/errors/errors.ts';
import { realEffects, type Effects } from '../../src/kit/files/effects.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';

const silent = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const noon = '2026-03-10T12:00:00Z';

/** Effects that throw at `step`, after `before` ran. */
function failingAt(step: string, error: Error, before: () => Promise<void> = async () => {}): Effects {
  const perform: Effects['perform'] = async (name, work) => {
    if (name !== step) return work();
    await before();
    throw error;
  };
  return { ...realEffects, perform };
}

it('a run whose state is damaged reports that, also when the note of the damage cannot be written', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  const { data } = pipeline;
  const files: Effects['files'] = {
    ...realEffects.files,
    writeFile: (path, content, step, mode) =>
      step === 'note of damage: written'
        ? Promise.reject(new Error('the note cannot be written'))
        : realEffects.files.writeFile(path, content, step, mode),
  };
  const failing = runPipeline(
    'refresh',
    { data, terminal: silent, asOf: noon },
    () =>
      Promise.reject(new Error(`IO Error: Corrupt database file "${data.stateFile}": computed checksum is another`)),
    { ...realEffects, files },
  );
  await expect(failing).rejects.toThrow('Corrupt database file');
});

it('a publish that fails reports its own error, also when the half-built folder cannot be removed', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  const effects = failingAt('analytics.duckdb: filled', new Error('the first error'));
  const files: Effects['files'] = {
    ...realEffects.files,
    remove: (path, step) =>
      step === 'half-built snapshot: removed'
        ? Promise.reject(new Error('the folder cannot be removed'))
        : realEffects.files.remove(path, step),
  };
  const failing = refresh({ data: pipeline.data, terminal: silent, asOf: noon }, { ...effects, files });
  await expect(failing).rejects.toThrow('the first error');
});

it('a failed audit is what a refresh reports, also when its postbacks cannot be delivered', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  const { data } = pipeline;
  const effects = failingAt('analytics.duckdb: filled', new AuditError([]), async () => {
    await mkdir(dirname(data.deliveriesFile), { recursive: true });
    await writeFile(data.deliveriesFile, 'no database'.repeat(1000));
  });
  const failing = refresh({ data, terminal: silent, asOf: noon }, effects);
  await expect(failing).rejects.toMatchObject({ exitCode: exitCode.audit });
});
