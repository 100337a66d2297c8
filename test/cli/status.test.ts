import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stages } from '../../pipelines/refresh.ts';
import { readStatus } from '../../src/cli/status.ts';
import { readSettings } from '../../src/config/settings.ts';
import { archivableFiles } from '../../src/maintenance/archivable-files.ts';
import { createLogger } from '../../src/stage/log.ts';
import { noProgress } from '../../src/stage/progress.ts';
import { readRecentRuns } from '../../src/warehouse/recent-runs.ts';
import { offerline } from '../support/command-line.ts';
import { click, LogLanding } from '../support/log-landing.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';

const noon = '2026-03-10T12:00:00Z';
const settings = { snapshot_max_age_minutes: 30, freshness: { clicks_minutes: 90, offers_minutes: 120 } };
const clickAt = (id: string, clicked_at: string) => ({ click_id: id, offer_id: 1, site_key: 's', user_id: 'u', clicked_at });

it('tells at one glance what is new, what failed, what waits and what is stale', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon), { settings });
  const { data } = pipeline;
  const offers = Array.from({ length: 12 }, (_, index) => ({ external_id: `e${index}`, title: `Offer ${index}`, payout: '1' }));
  await pipeline.landOffers('net', offers);
  await pipeline.landLog('clicks', 'ndjson', [clickAt('early', '2026-03-03T11:00:00Z'), clickAt('a', '2026-03-10T11:00:00Z'), { ...clickAt('bad', noon), clicked_at: 'then' }]);
  await pipeline.refresh('2026-03-10T11:50:00Z');
  await pipeline.landOffers('net', offers.slice(0, 2));
  await pipeline.refresh(noon);
  const request = { data, console: { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress }, asOf: noon };
  await expect(stages.publish({ ...request, asOf: '2026-03-10T12:01:00Z' })).rejects.toThrow('figures are as of');

  const at = (time: string) => readStatus(data, readSettings(data), Date.parse(time));
  const status = await at('2026-03-10T12:10:00Z');
  expect(status).toMatchObject({
    snapshot: { as_of: noon, age_seconds: 600 },
    newest: [{ data: 'clicks', newest: '2026-03-10T11:00:00Z', age_seconds: 4200 }, { data: 'conversions', newest: null, age_seconds: null }, { data: 'offers of net', age_seconds: 600 }],
    rejects_of_last_day: [{ reason: 'bad_clicked_at', rows: 1 }],
    held: [{ source: 'net', path: 'offers/net/0003.ndjson' }],
    reports: { outdated: 0, missing: 2 }, postbacks: null,
    last_failure: { run_id: 3, pipeline: 'publish', recovered: false },
    stale: [],
  });
  expect((await at('2026-03-10T12:31:00Z')).stale).toEqual(['the snapshot is 31 minutes old, snapshot_max_age_minutes allows 30', 'the newest of clicks is 91 minutes old, freshness.clicks_minutes allows 90']);
  expect((await at('2026-03-11T12:10:00Z')).rejects_of_last_day).toEqual([]);

  const { runs } = readRecentRuns(data);
  expect(runs.map(({ run_id, pipeline: name, status: outcome }) => [run_id, name, outcome])).toEqual([[3, 'publish', 'failed'], [2, 'refresh', 'done'], [1, 'refresh', 'done']]);
  expect(runs[2]?.stages.find(({ stage }) => stage === 'ingest')).toMatchObject({ rows_in: 15, rows_out: 14, bytes: expect.any(Number) as number, error: null });
  expect(await pipeline.ask(`SELECT stage, status, rows_in FROM run_stages WHERE run_id = 1 AND stage = 'ingest'`)).toEqual([{ stage: 'ingest', status: 'done', rows_in: 15 }]);
});

it('exits 1 where something is older than configured, after the answer', async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(noon), { settings });
  const { code, stdout, stderr } = await offerline(pipeline.data.root, 'status', '--json');
  expect({ code, stale: (JSON.parse(stdout) as { stale: string[] }).stale }).toEqual({ code: 1, stale: ['the snapshot is missing, snapshot_max_age_minutes allows 30'] });
  expect(stderr).toContain('the snapshot is missing');
});

it('lists landing files for the archive that no run needs any more, and no others', async () => {
  await using landing = await LogLanding.create();
  const old = new Date('2026-11-01T00:00:00Z');
  const put = async (path: string, rows: (string | object)[], time = old) => utimes(await landing.put(path, rows), time, time);
  await put('clicks/old.ndjson', [click('a')]);
  await put('clicks/copy.ndjson', [click('a')]);
  await put('clicks/changed.ndjson', [click('b')]);
  await put('clicks/young.ndjson', [click('c')], new Date('2026-11-17T00:00:00Z'));
  await put('offers/net/1.ndjson', [{ external_id: 'a', title: 'A', payout: '1' }], new Date('2026-10-31T00:00:00Z'));
  await put('offers/net/2.ndjson', [{ external_id: 'a', title: 'A2', payout: '1' }]);
  await landing.ingest();
  await writeFile(join(landing.data.landing, 'clicks/changed.ndjson'), `${JSON.stringify(click('other'))}\n`);
  await utimes(join(landing.data.landing, 'clicks/changed.ndjson'), old, new Date('2026-11-02T00:00:00Z'));
  await put('clicks/new.ndjson', [click('d')]);
  const listed = await archivableFiles(landing.data, landing.state, Date.parse('2026-11-10T00:00:00Z'));
  expect(listed.map(({ path }) => path)).toEqual(['clicks/copy.ndjson', 'clicks/old.ndjson', 'offers/net/1.ndjson']);
});
