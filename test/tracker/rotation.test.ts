import { expect, it } from 'vitest';
import { ownLogs } from '../../src/tracker/logs/log-names.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { clickIdOf, secret, TrackerUnderTest } from './tracker-under-test.ts';
import { slow } from '../support/slow.ts';

const token = 'a-token-of-the-source-0123456789';

it('refreshes while logs are written and handed over: every answer is one row of what they publish', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date('2026-11-20T14:00:00Z'));
  const destination_url = 'https://advertiser.example/?c={click_id}';
  await pipeline.landOffers('north', [{ external_id: 'one', id: 1, title: 'One', payout: '1.50', destination_url }]);
  await pipeline.refresh('2026-11-20T11:00:00Z');
  await using test = await TrackerUnderTest.start({
    data: pipeline.data,
    sites: [{ site_key: 'one', site_secret: secret }],
    sources: [{ source: 'north', postback: { token } }],
    settings: { trusted_proxies: ['127.0.0.1'], tracker: { hand_over_seconds: 0.5 } },
  });
  const [clicked, reported]: [string[], string[]] = [[], []];
  const answered = new Set<number>();
  let sent = 0;
  // At ever new times, of which a file is begun for every half second.
  const sending = Array.from({ length: 2 }, async () => {
    for (let each = 0; each < 150; each++) {
      const n = ++sent;
      test.now += 25;
      const from = { 'x-forwarded-for': `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` };
      const click = await test.click(1, `u${n}`, from);
      answered.add(click.status);
      clicked.push(clickIdOf(click));
      const report = `/postback/north?token=${token}&click_id=${clickIdOf(click)}&transaction_id=t${n}`;
      const { status } = await test.ask(report, from);
      answered.add(status);
      reported.push(`north:t${n}`);
    }
  });
  const published = async (column: string, table: string) =>
    (await pipeline.ask<{ id: string }>(`SELECT ${column} AS id FROM ${table} ORDER BY id`)).map(({ id }) => id);
  const over = new AbortController();
  const all = Promise.all(sending).finally(() => over.abort());
  do {
    // It lists folders in which files are begun, written to and handed over meanwhile.
    await pipeline.refresh(new Date(test.now + 1000).toISOString());
    const ids = await published('click_id', 'clicks');
    expect(new Set(ids).size).toBe(ids.length);
  } while (!over.signal.aborted);
  await all;
  expect(ownLogs(test.data, 'clicks').length).toBeGreaterThan(5);
  await test.stop();
  await pipeline.refresh(new Date(test.now + 1000).toISOString());
  expect(answered).toEqual(new Set([302, 200]));
  expect(await published('click_id', 'clicks')).toEqual(clicked.toSorted());
  expect(await published('conversion_id', 'conversions')).toEqual(reported.toSorted());
  const bad = await pipeline.ask(
    `SELECT path, status::VARCHAR AS status FROM ingest_files
     WHERE status <> 'loaded' OR duplicates + rejected + warnings > 0`,
  );
  expect(bad).toEqual([]);
});
