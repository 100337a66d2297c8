import { expect, it } from 'vitest';
import { refresh } from '../../pipelines/refresh.ts';
import { exitCode } from '../../src/kit/errors/errors.ts';
import { realEffects, type Effects } from '../../src/kit/files/effects.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { slow } from '../support/slow.ts';

const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const [noon, later] = ['2026-03-10T12:00:00Z', '2026-03-10T12:01:00Z'];

it('a run reads the clock once it holds the warehouse, and is as new as the one before', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon));
  const { data } = pipeline;
  let now = Date.parse(noon);
  const clocked: Effects = { ...realEffects, now: () => now };
  const perform: Effects['perform'] = async (step, work) => {
    if (step === 'lock: taken') {
      now = Date.parse(later);
      await refresh({ data, terminal }, clocked);
    }
    return work();
  };
  expect(await refresh({ data, terminal }, { ...clocked, perform })).toMatchObject({ asOf: later });

  // The machine that published has a clock a little ahead.
  now = Date.parse(noon);
  await expect(refresh({ data, terminal }, clocked)).rejects.toMatchObject({
    exitCode: exitCode.failed,
    message: expect.stringMatching(/^another run has published as of .*nothing is missing, run it again$/) as string,
  });
  await expect(refresh({ data, terminal, asOf: '2026-03-09T12:00:00Z' }, clocked)).rejects.toMatchObject({
    exitCode: exitCode.usage,
    message: expect.stringContaining('--allow-older') as string,
  });
});
