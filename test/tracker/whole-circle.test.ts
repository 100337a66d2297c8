import { expect, it } from 'vitest';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { clickIdOf, secret, TrackerUnderTest } from './tracker-under-test.ts';
import { slow } from '../support/slow.ts';

it('an offer, a link, a click, a conversion: the next refresh accepts each row once', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date('2026-11-20T14:00:00Z'));
  const { data } = pipeline;
  const destination_url = 'https://advertiser.example/?c={click_id}';
  await pipeline.landOffers('north', [{ external_id: 'one', id: 1, title: 'One', payout: '1.50', destination_url }]);
  await using test = await TrackerUnderTest.start({
    data,
    sites: [{ site_key: 'one', site_secret: secret }],
    sources: [{ source: 'north', postback: { token: 'a-token-of-the-source-0123456789' } }],
  });
  expect((await test.ask('/readyz')).status).toBe(503);
  await pipeline.refresh('2026-11-20T11:00:00Z');
  // Right after a refresh nobody has to wait for the tracker's next look.
  expect((await test.ask('/readyz')).status).toBe(200);

  const clicks = [
    await test.click(1, 'ann'),
    await test.ask('/redirect/manual-offer/1/user/b%C3%BCrg%22er/site/one?sub1=%F0%9F%90%B8'),
  ];
  await test.restart();
  clicks.push(await test.click(1, 'carl'));
  const report = await test.ask(
    `/postback/north?token=a-token-of-the-source-0123456789&click_id=${clickIdOf(clicks[0] as never)}&status=approved`,
  );
  expect(JSON.parse(report.body)).toMatchObject({ status: 'recorded' });
  await test.stop();

  await pipeline.refresh('2026-11-20T13:00:00Z');
  const files = await pipeline.ask(
    `SELECT kind::VARCHAR AS kind, sum(rows)::INTEGER AS rows, sum(accepted)::INTEGER AS accepted,
       sum(warnings)::INTEGER AS warnings FROM ingest_files WHERE kind <> 'offers' GROUP BY ALL ORDER BY kind`,
  );
  expect(files).toEqual([
    { kind: 'clicks', rows: 3, accepted: 3, warnings: 0 },
    { kind: 'conversions', rows: 1, accepted: 1, warnings: 0 },
  ]);
  const ids = (await pipeline.ask('SELECT click_id FROM clicks')) as { click_id: string }[];
  expect(ids.map(({ click_id }) => click_id).toSorted()).toEqual(clicks.map(clickIdOf).toSorted());
  expect(await pipeline.ask('SELECT status::VARCHAR AS status, offer_id, user_id FROM conversions')).toEqual([
    { status: 'credited', offer_id: 1, user_id: 'ann' },
  ]);
});
