import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { offerIdOf } from '../../../src/console/pages/figures/offer.ts';
import { PipelineUnderTest } from '../../support/pipeline-under-test.ts';
import { slow } from '../../support/slow.ts';
import { consoleOver } from './signed-in.ts';
import { asOf, hostileTitle, smallNetwork } from './small-network.ts';

const network = smallNetwork();
const look = (path: string) => network.look(path);

/** The texts of a table's cells, row by row. */
function cells(markup: string, table: string): string[][] {
  const section = markup.slice(markup.indexOf(`id="${table}"`)).split('</section>')[0] ?? '';
  return [...section.matchAll(/<tr>(\s*<td.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => cell.replaceAll(/<[^>]*>/g, '').trim()),
  );
}

/** The exact numbers of a table's cells, which people see on hover where a cell shows less. */
function exactNumbers(markup: string, table: string): string[][] {
  const section = markup.slice(markup.indexOf(`id="${table}"`)).split('</section>')[0] ?? '';
  return [...section.matchAll(/<tr>(\s*<td.*?)<\/tr>/gs)].map(([, row = '']) =>
    [...row.matchAll(/<data value="([^"]*)"/g)].map(([, value = '']) => value),
  );
}

it('offers have their conversions of fourteen days as a line, on one scale', async () => {
  const { status, markup, text } = await look('/offers');
  expect(status).toBe(200);
  expect(markup).toContain('aria-label="2 at most, 2 today so far"');
  expect(text).toContain(hostileTitle);
  expect(markup).not.toContain('<img');
  expect((await look('/offers?status=vanished')).text).toContain('Gone');
  // A text that looks like a moment stays a text.
  expect((await look('/offers?search=2026-11-20T00:00:00Z')).text).toContain('No offer matches.');
});

it('an offer has its figures, also by site, its days, and the changes of its catalog', async () => {
  const { status, markup, text } = await look('/offers/7?by=site');
  expect(status).toBe(200);
  expect(text).toContain(`Offer 7, ${hostileTitle}`);
  expect(markup).not.toContain('<img');
  expect(cells(markup, 'figures')).toEqual([['1', '3', '2', '2', '5.00', '1.67', '66.67 %', '2', '0', '↑ up']]);
  expect(exactNumbers(markup, 'figures')).toEqual([['1', '3', '2', '2', '5.000000', '1.666667', '0.666667', '2', '0']]);
  expect(markup).toContain('title="1.666667"');
  expect(cells(markup, 'sites')).toEqual([
    ['wall', '2', '1', '1', '2.50', '1.25', '50 %'],
    ['other', '1', '1', '1', '2.50', '2.50', '100 %'],
  ]);
  const days = cells(markup, 'days');
  expect(days[0]?.slice(0, 5)).toEqual(['2026-11-20', '3', '2', '2', '5.00']);
  expect(days.at(-1)?.slice(0, 5)).toEqual(['2026-11-15', '1', '1', '1', '2.50']);
  expect(days).toHaveLength(6);
  expect(cells(markup, 'changes')).toEqual([['2', '2026-11-20 12:00:00', '2', 'payout', '2.500000', '3.000000']]);
  expect(text).toContain('Clicks by day: 4 in all.');
});

it('a gone offer names the export that lacks it', async () => {
  const { text, markup } = await look('/offers/9?by=site');
  expect(text).toMatch(
    /vanished , removed at 2026-11-20 12:00:00 : run 2 read offers\/net\/\d+\.ndjson , which no longer has the offer/,
  );
  expect(markup).toMatch(/href="\/files\/\d+"/);
  expect(text).toContain('Yesterday and today no site sent a click of this offer');
});

it('the days of an offer can be chosen, and an unknown day is not 0', async () => {
  const { markup, text } = await look('/offers/7?from=2026-11-01&to=2026-11-16');
  expect(cells(markup, 'days').map(([day, clicks]) => [day, clicks])).toEqual([
    ['2026-11-16', '0'],
    ['2026-11-15', '1'],
  ]);
  expect(text).toContain('UTC days 2026-11-01 to 2026-11-16, both included');
  expect((await look('/offers/7?from=2020-01-01&to=2020-02-01')).text).toContain('There is no data of these days.');
});

it('behind an offer’s figures are its clicks and conversions', async () => {
  const { markup, text } = await look('/offers/7/explained?sort=happened_at.up');
  expect(text).toContain('7 rows');
  expect(cells(markup, 'explained')[0]?.slice(1, 3)).toEqual(['click', 'counts']);
  expect(markup).not.toContain('203.0.113.9');
});

it.each([
  ['/offers/10', 404, 'No catalog has had an offer 10'],
  ['/offers/none', 404, 'No catalog has had an offer none'],
  ['/offers/7?from=soon', 400, 'from "soon" is not a day; write it like 2026-11-18'],
  ['/offers/7?from=2026-11-21&to=2026-11-20', 400, 'to has to be the same or a later day'],
  ['/offers/7?from=2020-01-01', 400, 'is more than 400 days'],
  ['/offers/7?to=9999-12-31', 400, 'to is 9999-12-31; it has to be a day of the years 1970 to 2999'],
  ['/sites?from=9999-12-31&to=9999-12-31', 400, 'to is 9999-12-31; it has to be a day of the years 1970 to 2999'],
  ['/sites/wall?to=0000-01-10', 400, 'to is 0000-01-10; it has to be a day of the years 1970 to 2999'],
  ['/days?to=9999-12-31', 400, 'to is 9999-12-31; it has to be a day of the years 1970 to 2999'],
  ['//', 404, 'There is no such page'],
  ['/offers/7/explained?sort=user_id.down', 400, 'cannot be sorted by "user_id.down"'],
  ['/sites/nobody', 404, 'Neither sites.json nor any click has a site "nobody"'],
  ['/clicks/nobody', 404, 'No log has a click "nobody"'],
])('%s is answered with %i and a sentence', async (path, status, sentence) => {
  const shown = await look(path);
  expect(shown.status).toBe(status);
  expect(shown.text).toContain(sentence);
});

it('sites have earnings after commission, and small charts on one scale', async () => {
  const { markup } = await look('/sites');
  const rows = cells(markup, 'sites').map((row) => [row[0], ...row.slice(4, 9)]);
  // Clicks, conversions, gross, commission, after commission.
  expect(rows).toEqual([
    ['wall', '4', '2', '5.00', '10 %', '4.50'],
    ['other', '1', '1', '2.50', '10 %', '2.25'],
  ]);
  expect(markup).toContain('aria-label="wall: 3 at most, 3 today so far"');
  const nothing = await look('/sites?from=2020-01-01&to=2020-02-01');
  expect(nothing.text).toContain('none in these days – none – none – none');
  expect(nothing.markup).not.toContain('class="multiple"');
});

it('a site with clicks on the last day that is shown has not stopped', async () => {
  const lastClicks = async (path: string) => cells((await look(path)).markup, 'sites')[0]?.[3];
  expect(await lastClicks('/sites?from=2026-11-10&to=2026-11-15')).toBe('● 2026-11-15');
  expect(await lastClicks('/sites?from=2026-11-10&to=2026-11-16')).toBe('◐ 2026-11-15');
  expect(await lastClicks('/sites')).toBe('● 2026-11-20');
});

it('a site has its offers and days, and operators may test its postbacks', async () => {
  const { text, markup } = await look('/sites/wall?by=offer');
  expect(cells(markup, 'offers').map((row) => row.slice(0, 5))).toEqual([
    ['7', '&lt;img src=x onerror=alert(1)&gt;', '2', '1', '2.50'],
    ['8', 'Quest', '1', '0', '0.00'],
  ]);
  expect(text).toContain('10 % of a payout');
  expect(text).toContain('Send a test postback: preview');
  expect(text).toContain('Pause the site: preview');
  expect(markup).not.toContain('of-the-publisher');
  expect((await network.asViewer('/sites/wall')).text).not.toContain('Send a test postback');
  // Its site has no address.
  const other = await look('/sites/other');
  expect(other.text).not.toContain('Send a test postback');
  expect(other.text).toContain('sites.json has no postback address for this site');
});

it('a site’s page follows sites.json before the next refresh', async () => {
  const { sitesFile } = network.pipeline.data;
  const kept = await readFile(sitesFile, 'utf8');
  const { sites } = JSON.parse(kept) as { sites: { site_key: string; postback?: object }[] };
  const wall = sites.find(({ site_key }) => site_key === 'wall');
  try {
    const fresh = { ...wall, site_key: 'fresh', name: '', commission: 0.2 };
    const terms = { commission: 0.33, commissions: [{ source: 'net', commission: 0.2 }] };
    const offers = { deny: [{ category: 'Games' }] };
    await writeFile(sitesFile, JSON.stringify({ sites: [{ ...wall, status: 'paused', ...terms, offers }, fresh] }));
    const paused = await look('/sites/wall');
    expect(paused.text).toContain('Status ◐ paused , active in this snapshot');
    // Each state whole: 10 % with the exception of 20 % never held.
    expect(paused.text).toContain(
      'Commission 33 % of a payout, 20 % of source:net; 10 % of a payout in this snapshot Offers all, but not category:Games; all in this snapshot Points for one USD 100 Requests',
    );
    expect(paused.text).toContain('Approve the site: preview');
    const added = await look('/sites/fresh');
    expect([added.status, added.text]).toEqual([200, expect.stringMatching(/^ Site fresh What /)]);
    expect(added.text).toContain('This snapshot was published before sites.json had this site; the next one has it.');
    expect(added.text).toContain('Status ● active Commission 20 % of a payout');
    expect(added.text).toContain('Send a test postback: preview');
    const removed = await look('/sites/other');
    expect(removed.text).toContain('Status sites.json lacks this site: its clicks count, its postbacks wait');
    expect(removed.text).not.toContain('no postback address');
    await writeFile(sitesFile, '{');
    const unread = await look('/sites/wall');
    expect(unread.text).toContain('Status ● active');
    expect(unread.text).toContain('sites.json is not valid JSON in line 1');
    expect(unread.text).not.toContain('no postback address');
    expect((await look('/sites/fresh')).text).toContain(
      'No click of this snapshot has a site "fresh", and sites.json cannot be read.',
    );
  } finally {
    await writeFile(sitesFile, kept);
  }
});

it.each([
  ['counts', 'The click counts in the clicks of offer 7'],
  ['counts', 'Conversion v-counts counts in the offer’s conversions and earnings, with 2.50 USD'],
  ['counts', 'Conversion v-rejected does not count: the advertiser rejected it on 2026-11-20 at 08:00:00 UTC.'],
  [
    'counts',
    'Conversion v-back does not count any more: it was charged back on 2026-11-20 at 10:00:00 UTC, after a credit',
  ],
  ['early', 'It is before the window of the offer’s figures, which begins on 2026-11-19'],
  ['early', 'Conversion v-early counts on the day of its credit, 2026-11-15, with 2.50 USD'],
  [
    'early',
    'Conversion v-expired does not count: the advertiser rejected it on 2026-11-16 at 08:00:00 UTC, with the reason "expired".',
  ],
  [
    'early',
    'Conversion v-lapsed does not count: it was announced on 2026-08-22 at 06:00:00 UTC, and nothing followed within 90 days.',
  ],
  ['later', 'The click does not count yet: its time is later than the as-of'],
  ['later', 'No conversion up to the as-of names this click.'],
  ['nameless', 'The click counts for no offer: no catalog has had unheard of net yet.'],
  ['nameless', 'v-nameless does not count: it is unattributed, because no catalog has had the offer of its click yet.'],
  ['quest', 'v-quest does not count: it is unattributed, because the offer had no milestone "level-9" at that time.'],
  ['never-seen', 'No log that was read has this click'],
  ['never-seen', 'v-lost does not count: it is unattributed, because no log that was read has its click.'],
])('click %s: %s', async (id, sentence) => {
  const { status, text, markup } = await look(`/clicks/${id}`);
  expect(status).toBe(200);
  expect(text).toContain(sentence);
  expect(markup).not.toContain('203.0.113.9');
  expect(markup).not.toContain('Browser/1');
});

it('a click’s time line has its log, conversions and postbacks in their order', async () => {
  const { text, markup } = await look('/clicks/counts');
  expect(text).toMatch(
    /clicked on site wall .*conversion v-counts was credited .*conversion v-back was charged back .*run 1 read its log/,
  );
  expect(text).toContain('postback of the credit of v-counts was written');
  expect(markup).toMatch(/href="\/postbacks\/pb_\w+"/);
  expect(markup).toMatch(/href="\/files\/\d+">clicks\/\d+\.ndjson/);
});

it('an id with a slash and quotes is found, and is not in commands that people paste', async () => {
  const { status, text } = await look(`/clicks/${encodeURIComponent('told/"here"')}`);
  expect(status).toBe(200);
  expect(text).toContain('Click told/"here"');
  expect(text).toContain(`FROM clicks WHERE click_id = '…'`);
});

it('recent clicks are of the last hour, or of a user or site yesterday and today', async () => {
  const ids = async (path: string) => cells((await look(path)).markup, 'clicks').map(([, id]) => id);
  // The newest click up to the as-of is five hours old.
  expect((await look('/clicks')).text).toContain(
    'Clicks of the last hour before the as-of, the newest hundred There is none.',
  );
  expect(new Set(await ids('/clicks?user=u'))).toEqual(
    new Set(['counts', 'counts-2', 'nameless', 'quest', 'told/&quot;here&quot;']),
  );
  expect(await ids('/clicks?user=u&site=other')).toEqual(['counts-2']);
  expect((await look('/clicks?user=nobody')).text).toContain('There is none. Clear filter');
  expect((await look('/clicks?user=u')).markup).not.toContain('203.0.113.9');
});

it('clicks of yesterday are recent, also where one is dated after the day of the as-of', slow, async () => {
  await using pipeline = await PipelineUnderTest.create(new Date(asOf));
  await pipeline.landLog(
    'clicks',
    'ndjson',
    ['18', '19', '20', '21'].map((day) => ({
      click_id: `of-${day}`,
      offer_id: 7,
      site_key: 'wall',
      user_id: `user-${day}`,
      clicked_at: `2026-11-${day}T07:00:00Z`,
    })),
  );
  await pipeline.refresh(asOf);
  const opened = await consoleOver(pipeline.data);
  try {
    const show = await opened.as('operator');
    const { markup } = await show('/clicks?site=wall');
    expect(cells(markup, 'clicks').map(([, id]) => id)).toEqual(['of-20', 'of-19']);
    expect((await show('/search?id=user-19')).location).toBe('/clicks?user=user-19');
    expect((await show('/search?id=user-21')).status).toBe(200);
  } finally {
    await opened.close();
  }
});

it('the form for a click redirects to it', async () => {
  expect((await look('/clicks')).status).toBe(200);
  expect((await look('/clicks?id=counts')).status).toBe(303);
});

it('an offer may have any id in the range', () => {
  expect(offerIdOf({ id: '2147483647' })).toBe('2147483647');
  for (const id of ['0', '01', '2147483648', '99999999999', '-1', '1e3', ''])
    expect(() => offerIdOf({ id }), id).toThrow('No catalog has had an offer');
});

it('an hour or day before the first known one is not 0', async () => {
  const { markup } = await look('/');
  const [today, dayBefore, weekBefore] = cells(markup, 'days');
  expect(today?.slice(2)).toEqual(['4', '2', '5.00', '1.25', '2']);
  expect(dayBefore?.slice(2)).toEqual(['0', '0', '0.00', '0.00', '0']);
  expect(weekBefore?.slice(2)).toEqual(Array(5).fill('– before the first known day'));
  const hours = cells(markup, 'hours');
  expect(hours.at(-5)?.slice(1, 3)).toEqual(['4', '– before the first known day']);
});

it('a page and a CSV file are answered with 304 to the same user only', async () => {
  const older = `snapshot=${network.snapshots[0]}`;
  const file = `/offers?csv=offers&${older}`;
  const tag = (await look(file)).headers.get('etag') ?? '';
  expect(tag).toMatch(/^"[\w-]{27}"$/);
  const again = await network.look(file, { 'if-none-match': tag });
  expect([again.status, again.markup]).toEqual([304, '']);
  expect(again.headers.get('cache-control')).toBe('private, no-cache');
  expect((await network.look(file.replace(older, ''), { 'if-none-match': tag })).status).toBe(200);
  const page = (await look('/offers')).headers.get('etag') ?? '';
  const ofViewer = await network.asViewer('/offers', { 'if-none-match': page });
  expect([ofViewer.status, ofViewer.headers.get('etag') === page]).toEqual([200, false]);
});

it('a sorted table does not claim its default order', async () => {
  expect((await look('/sites')).text).toContain('highest earnings first');
  expect((await look('/sites?sort=clicks.up')).text).not.toContain('highest earnings first');
  expect((await look('/files?sort=rows.down')).text).not.toContain('newest first');
});
