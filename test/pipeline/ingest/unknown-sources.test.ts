import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { endOf } from '../../support/commands.ts';

it('a source in offerline.json of which nothing has landed is a warning of the run, with its line', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date('2026-11-20T12:00:00Z'));
  await pipeline.landOffers('north', [{ external_id: 'one', title: 'One', description: '', payout: '1' }]);
  const settings = {
    sources: { nroth: { mode: 'delta' }, north: { mode: 'full' } },
    tracker: { sources: { 'south-sea': { append_click_id: 'c' } } },
  };
  await writeFile(pipeline.data.settingsFile, JSON.stringify(settings, null, 1));
  const { code, stderr } = await endOf(pipeline.data.root, 'run', 'ingest');
  expect(code).toBe(0);
  const warnings = stderr
    .split('\n')
    .filter((line) => line.includes('no catalog has landed'))
    .map((line) => (JSON.parse(line) as { msg: string }).msg.replace(pipeline.data.settingsFile, 'offerline.json'));
  expect(warnings).toEqual([
    'offerline.json, line 3: sources.nroth names a folder of landing/offers in which no catalog has landed; did you mean north?',
    'offerline.json, line 12: tracker.sources.south-sea names a folder of landing/offers in which no catalog has landed',
  ]);
});
