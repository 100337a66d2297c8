import { expect, it } from 'vitest';
import { isRefreshDue } from '../../../src/cli/schedule/refresh-due.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';

it('starts no refresh that would go back and says so each time it is asked, until the clock has caught up', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date('2026-03-10T12:00:00Z'));
  let told = '';
  const logger = createLogger({ write: (text: string) => Boolean((told += text)) }, 'info');
  const due = (clock: string) => isRefreshDue(pipeline.data, logger, Date.parse(clock));
  expect(await due('2026-03-10T12:00:00Z')).toBe(true);
  await pipeline.refresh('2026-03-10T12:04:00.000001Z', { clock: '2026-03-10T12:00:00Z' });
  for (const [times, clock] of ['2026-03-10T12:00:00Z', '2026-03-10T12:02:00Z', '2026-03-10T12:04:00Z'].entries()) {
    expect(await due(clock)).toBe(false);
    expect(
      told.match(
        /no refresh is started: the published snapshot is ahead of this machine's clock; .*`offerline doctor --repair`/g,
      ),
    ).toHaveLength(times + 1);
  }
  expect(await due('2026-03-10T12:04:00.001Z')).toBe(true);
});
