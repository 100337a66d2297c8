import { gzipSync } from 'node:zlib';
import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { defaultSettings } from '../../src/config/settings.ts';
import { click, conversion, csv, LogLanding, ndjson } from '../support/log-landing.ts';

const digits = '9'.repeat(5000);

it('a gzip that unpacks to more than is allowed is quarantined, whatever it holds, and leaves no copy; others go on', async () => {
  await using landing = await LogLanding.create();
  const bomb = gzipSync(Buffer.alloc(20_000_000));
  expect(bomb.length).toBeLessThan(30_000);
  for (const ending of ['ndjson', 'csv', 'json']) await landing.put(`clicks/bomb-${ending}.${ending}.gz`, Buffer.concat([bomb, Buffer.from(gzipSync(ending))]));
  await landing.put('offers/net/bomb.json.gz', bomb);
  await landing.put('clicks/good.ndjson.gz', gzipSync(ndjson([click('good')])));
  await landing.ingest({ settings: { ...defaultSettings, unpacked_gigabytes: 0.001 } });
  expect((await landing.ledger()).toSorted()).toEqual([
    'clicks/bomb-csv.csv.gz quarantined unpacked_too_large 0=0+0+0', 'clicks/bomb-json.json.gz quarantined unpacked_too_large 0=0+0+0',
    'clicks/bomb-ndjson.ndjson.gz quarantined unpacked_too_large 0=0+0+0', 'clicks/good.ndjson.gz loaded 1=1+0+0',
    'offers/net/bomb.json.gz quarantined unpacked_too_large 0=0+0+0',
  ]);
  expect(await readdir(landing.data.scratch)).toEqual([]);
});

it('of 100,000 bad rows each is counted and the first thousand are kept', async () => {
  await using landing = await LogLanding.create();
  const bad = Array.from({ length: 100_000 }, (_, index) => `{"click_id":"bad ${index}"}`);
  await landing.put('clicks/bad.ndjson', [JSON.stringify(click('first')), ...bad, JSON.stringify(click('last'))]);
  await landing.put('conversions/bad.csv', `${csv([conversion('one')])}${Array.from({ length: 3000 }, (_, index) => `c${index},,,,\n`).join('')}`);
  await landing.put('offers/net/bad.ndjson', [...Array.from({ length: 1500 }, (_, index) => ({ external_id: `x${index}` })), { external_id: 'good', title: 'Good', payout: '1' }]);
  expect(await landing.ingest()).toMatchObject({ rows: 100_002 + 3001 + 1501, accepted: 4, rejected: 104_500 });
  expect((await landing.ledger()).toSorted()).toEqual([
    'clicks/bad.ndjson loaded 100002=2+0+100000', 'conversions/bad.csv loaded 3001=1+0+3000', 'offers/net/bad.ndjson loaded 1501=1+0+1500',
  ]);
  expect(await landing.query('SELECT path, count(*) AS kept, min(line) AS first, max(line) AS last FROM rejects GROUP BY path ORDER BY path')).toEqual([
    { path: 'clicks/bad.ndjson', kept: 1000, first: 2, last: 1001 },
    { path: 'conversions/bad.csv', kept: 1000, first: 3, last: 1002 },
    { path: 'offers/net/bad.ndjson', kept: 1000, first: 1, last: 1000 },
  ]);
});

it('numbers of thousands of digits are text like any other, and rejected where a number is wanted', async () => {
  await using landing = await LogLanding.create();
  const raw = (record: object, field: string) => JSON.stringify({ ...record, [field]: 0 }).replace(`"${field}":0`, `"${field}":${digits}`);
  await landing.put('clicks/a.ndjson', [raw(click('offer'), 'offer_id'), raw(click('user'), 'user_id'), raw(click('extra'), 'extra'), JSON.stringify(click('good'))]);
  await landing.put('conversions/a.ndjson', [raw(conversion('payout'), 'payout'), raw(conversion('fraction'), 'payout').replace(digits, `0.${digits}`), JSON.stringify(conversion('good'))]);
  await landing.put('offers/net/a.ndjson', [
    ...['id', 'payout', 'stars', 'daily_cap'].map((field) => raw({ external_id: field, title: 'T', payout: '1' }, field)), JSON.stringify({ external_id: 'good', title: 'T', payout: '1' }),
  ]);
  await landing.ingest();
  expect(await landing.ids('clicks')).toEqual(['extra', 'good']);
  expect(await landing.ids('conversions')).toEqual(['good credit']);
  expect(await landing.query('SELECT path, rows = accepted + duplicates + rejected AS adds_up, rejected FROM ingest_files ORDER BY path')).toEqual([
    { path: 'clicks/a.ndjson', adds_up: true, rejected: 2 }, { path: 'conversions/a.ndjson', adds_up: true, rejected: 2 }, { path: 'offers/net/a.ndjson', adds_up: true, rejected: 2 },
  ]);
});
