import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { stages } from '../../../pipelines/refresh.ts';
import { UsageError } from '../../../src/kit/errors/errors.ts';
import { currentManifest } from '../../../src/pipeline/snapshot/snapshot-store.ts';
import type { Moment } from '../../../src/kit/time/moment.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { noProgress } from '../../../src/kit/logging/progress.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { sharedPipeline } from '../../support/shared-pipeline.ts';
import { slow } from '../../support/slow.ts';

const silent = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };
const click = (id: string) => ({
  click_id: id,
  offer_id: 1,
  site_key: 's',
  user_id: 'u',
  clicked_at: '2026-03-09T08:00:00Z',
});

const published = sharedPipeline(async () => {
  const pipeline = await PipelineUnderTest.create(new Date('2026-03-10T12:00:00Z'));
  await pipeline.landOffers('alpha', [{ external_id: 'one', id: 1, title: 'One', payout: '1' }]);
  await pipeline.landLog('clicks', 'ndjson', [click('c1')]);
  await pipeline.refresh('2026-03-09T10:00:00Z');
  return pipeline;
});

it('alone publishes under the as-of of the figures, whatever the clock says', slow, async () => {
  const pipeline = await published();
  const request = { data: pipeline.data, terminal: silent };
  await stages.models({ ...request, asOf: '2026-03-09T11:00:00Z' });
  const { snapshotId } = await stages.publish(request);
  expect(snapshotId).toMatch(/20260309T110000Z$/);
  expect((await currentManifest(pipeline.data))?.as_of).toBe('2026-03-09T11:00:00Z');
  expect(await pipeline.ask('SELECT DISTINCT as_of FROM offer_stats_2d')).toEqual([{ as_of: '2026-03-09T11:00:00Z' }]);
});

it('refuses an as-of that the figures are not of', slow, async () => {
  const pipeline = await published();
  await expect(stages.publish({ data: pipeline.data, terminal: silent, asOf: '2026-03-09T11:00:00Z' })).rejects.toThrow(
    'the figures are as of 2026-03-09T10:00:00Z, not 2026-03-09T11:00:00Z',
  );
});

it('refuses figures that lack what was ingested last', slow, async () => {
  const pipeline = await published();
  const request = { data: pipeline.data, terminal: silent, asOf: '2026-03-09T10:00:00Z' };
  await pipeline.landLog('clicks', 'ndjson', [click('c2')]);
  await stages.ingest(request);
  await expect(stages.publish(request)).rejects.toThrow(UsageError);
  expect(await pipeline.ask('SELECT count(*) AS clicks FROM clicks')).toEqual([{ clicks: 1 }]);
  await stages.models(request);
  await stages.publish(request);
  expect(await pipeline.ask('SELECT sum(clicks)::BIGINT AS clicks FROM offer_hourly')).toEqual([{ clicks: 2 }]);
});

it.each([
  ['under the as-of of the snapshot before', '2026-03-09T11:00:00Z'],
  ['under an older one', '2026-03-09T10:30:00Z'],
])('what terms and caps change %s counts after that: a sync asks for what is later', slow, async (_case, asOf) => {
  const pipeline = await published();
  const configure = async (commission: number, hide_capped_offers: boolean) => {
    await writeFile(
      pipeline.data.sitesFile,
      JSON.stringify({ sites: [{ site_key: 's', site_secret: 'a-secret-of-the-site-0123456789', commission }] }),
    );
    await pipeline.configure({ hide_capped_offers });
  };
  const changes = `SELECT max(site_terms.valid_from) AS valid_from, commission_changed_at, capped_at, uncapped_at
    FROM sites JOIN site_terms USING (site_key), offers GROUP BY ALL`;
  const [before, next, last] = ['', '.000001', '.000002'].map((part) => `2026-03-09T11:00:00${part}Z`) as [
    Moment,
    Moment,
    Moment,
  ];
  await configure(0.1, false);
  await pipeline.landOffers('alpha', [{ external_id: 'one', id: 1, title: 'One', payout: '1', daily_cap: 0 }]);
  await pipeline.refresh(before);
  expect(await pipeline.ask(changes)).toEqual([
    { valid_from: before, commission_changed_at: null, capped_at: null, uncapped_at: null },
  ]);
  await configure(0.2, true);
  await pipeline.refresh(asOf, { allowOlder: true });
  expect(await pipeline.ask(changes)).toEqual([
    { valid_from: next, commission_changed_at: next, capped_at: next, uncapped_at: null },
  ]);
  await configure(0.3, false);
  await stages.publish({ data: pipeline.data, terminal: silent });
  expect(await pipeline.ask(changes)).toEqual([
    { valid_from: last, commission_changed_at: last, capped_at: next, uncapped_at: last },
  ]);
});

it('refuses to go back in time unless that is wanted', async () => {
  const pipeline = await published();
  const older = { data: pipeline.data, terminal: silent, asOf: '2026-03-09T09:00:00Z' };
  await stages.models({ ...older, allowOlder: true });
  await expect(stages.publish({ data: pipeline.data, terminal: silent })).rejects.toThrow('--allow-older');
  await stages.publish({ ...older, allowOlder: true });
  expect((await currentManifest(pipeline.data))?.as_of).toBe('2026-03-09T09:00:00Z');
});
