import { chmodSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { route, TrackerUnderTest } from '../tracker-under-test.ts';
import { countryFile } from './country-file.ts';

let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'offerline-countries-'))));
afterAll(() => rmSync(folder, { recursive: true }));

it('countries come of the operator’s file; unknown ones pass, and a broken file leaves the last good one', async () => {
  const file = join(folder, 'countries.mmdb');
  writeFileSync(file, countryFile({ 81: 'DE', 9: 'US' }));
  await using test = await TrackerUnderTest.start({
    routes: [route({ offer_id: 1, countries: ['DE', 'AT'], destination_url: 'https://a.example/{country}' })],
    settings: { trusted_proxies: ['127.0.0.1'], tracker: { country_database: file } },
  });
  const click = (address: string) =>
    test.outcome('/redirect/manual-offer/1/user/u/site/one', { 'x-forwarded-for': address });
  expect([await click('81.1.2.3'), await click('9.9.9.9'), await click('10.0.0.1')]).toEqual([
    '302',
    '403 country',
    '302',
  ]);
  expect(await click('2001:db8::1')).toBe('302');
  writeFileSync(file, 'no such file');
  await test.tracker.poll();
  expect(test.logged.at(-1)).toContain('keeping those read before');
  expect(await click('9.9.9.8')).toBe('403 country');
  rmSync(file);
  mkdirSync(file);
  await test.tracker.poll();
  const before = test.logged.length;
  await test.tracker.poll();
  expect(test.logged).toHaveLength(before);
  rmdirSync(file);
  writeFileSync(file, countryFile({ 81: 'DE', 9: 'AT' }));
  await test.tracker.poll();
  expect(await click('9.9.9.9')).toBe('302');
  const read = test.logged.length;
  chmodSync(file, 0o640);
  await test.tracker.poll();
  expect(test.logged.slice(read)).toEqual([expect.stringContaining('countries of addresses read')]);
  await test.stop();
  expect(test.rows().map(({ country }) => country)).toEqual(['DE', undefined, undefined, 'AT']);
});
