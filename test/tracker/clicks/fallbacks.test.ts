import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { countryFile } from '../agents/country-file.ts';
import { route, TrackerUnderTest } from '../tracker-under-test.ts';

const routes = [
  route({ offer_id: 1 }),
  route({ offer_id: 2, status: 'paused' }),
  route({ offer_id: 3, countries: ['US'] }),
  route({ offer_id: 4, devices: ['ios'] }),
  route({ offer_id: 5, android_min_os: '8.0' }),
  route({ offer_id: 6, daily_click_cap: 0 }),
  route({ offer_id: 7, daily_cap: 0 }),
];
const android7 = 'Mozilla/5.0 (Linux; Android 7.1; SM-J510) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/90.0 Mobile';

const cases: [reason: string, status: number, offer: number, headers?: Record<string, string>][] = [
  ['offer_gone', 410, 2],
  ['country', 403, 3, { 'x-forwarded-for': '81.1.2.3' }],
  ['device', 403, 4],
  ['os_version', 403, 5, { 'user-agent': android7 }],
  ['flood', 429, 1],
  ['daily_click_cap', 403, 6, { 'x-forwarded-for': '198.51.100.1' }],
  ['daily_cap', 403, 7, { 'x-forwarded-for': '198.51.100.1' }],
];

/** The answers of each of those, after sixty clicks from the address that has no other. */
async function answers(tracker: object): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'offerline-countries-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const country_database = join(folder, 'countries.mmdb');
  writeFileSync(country_database, countryFile({ 81: 'DE' }));
  const settings = { trusted_proxies: ['127.0.0.1'], tracker: { ...tracker, country_database } };
  await using test = await TrackerUnderTest.start({ routes, settings });
  await Promise.all(Array.from({ length: 60 }, (_, n) => test.click(1, `u${n}`)));
  const found: string[] = [];
  for (const [reason, , offer, headers] of cases) {
    const answer = await test.click(offer, 'next', { accept: 'application/json', ...headers });
    const outcome = answer.headers.location ?? (JSON.parse(answer.body) as { error: string }).error;
    found.push(`${answer.status} ${outcome}`);
    expect(await test.metric(`offerline_tracker_clicks_total{outcome="${reason}"}`)).toBe(1);
  }
  await test.stop();
  expect(test.rows()).toHaveLength(60);
  return found;
}

it('every refusal that is nobody’s mistake leads to the fallback where there is one, and says why where none is', async () => {
  expect(await answers({})).toEqual(cases.map(([reason, status]) => `${status} ${reason}`));
  expect(await answers({ fallback_url: 'https://fall.example/{reason}/{offer_id}' })).toEqual(
    cases.map(([reason, , offer]) => `302 https://fall.example/${reason}/${offer}`),
  );
});
