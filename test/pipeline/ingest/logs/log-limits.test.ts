import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { defaultSettings } from '../../../../src/kit/config/settings.ts';
import { noLimits, type FileCheck } from '../../../../src/pipeline/landing/files/check-files.ts';
import { findLandingFiles } from '../../../../src/pipeline/landing/files/find-files.ts';
import { it } from '../../../support/landing-test.ts';
import { click, conversion, csv, ndjson } from '../../../support/log-landing.ts';
import { slow } from '../../../support/slow.ts';

const digits = '9'.repeat(5000);

it('a gzip that unpacks to more than is allowed is quarantined, whatever it holds, and leaves no copy; others go on', async ({
  landing,
}) => {
  const bomb = gzipSync(Buffer.alloc(20_000_000));
  expect(bomb.length).toBeLessThan(30_000);
  for (const ending of ['ndjson', 'csv', 'json'])
    await landing.put(`clicks/bomb-${ending}.${ending}.gz`, Buffer.concat([bomb, Buffer.from(gzipSync(ending))]));
  await landing.put('offers/net/bomb.json.gz', bomb);
  await landing.put('clicks/good.ndjson.gz', gzipSync(ndjson([click('good')])));
  await landing.ingest({ settings: { ...defaultSettings, unpacked_gigabytes: 0.001 } });
  expect((await landing.ledger()).toSorted()).toEqual([
    'clicks/bomb-csv.csv.gz quarantined unpacked_too_large 0=0+0+0',
    'clicks/bomb-json.json.gz quarantined unpacked_too_large 0=0+0+0',
    'clicks/bomb-ndjson.ndjson.gz quarantined unpacked_too_large 0=0+0+0',
    'clicks/good.ndjson.gz loaded 1=1+0+0',
    'offers/net/bomb.json.gz quarantined unpacked_too_large 0=0+0+0',
  ]);
  expect(await readdir(landing.data.scratch)).toEqual([]);
});

it('of 100,000 bad rows each is counted and the first thousand are kept', async ({ landing }) => {
  const bad = Array.from({ length: 100_000 }, (_, index) => `{"click_id":"bad ${index}"}`);
  await landing.put('clicks/bad.ndjson', [JSON.stringify(click('first')), ...bad, JSON.stringify(click('last'))]);
  await landing.put(
    'conversions/bad.csv',
    `${csv([conversion('one')])}${Array.from({ length: 3000 }, (_, index) => `c${index},,,,\n`).join('')}`,
  );
  await landing.put('offers/net/bad.ndjson', [
    ...Array.from({ length: 1500 }, (_, index) => ({ external_id: `x${index}` })),
    { external_id: 'good', title: 'Good', payout: '1' },
  ]);
  expect(await landing.ingest()).toMatchObject({ rows: 100_002 + 3001 + 1501, accepted: 4, rejected: 104_500 });
  expect((await landing.ledger()).toSorted()).toEqual([
    'clicks/bad.ndjson loaded 100002=2+0+100000',
    'conversions/bad.csv loaded 3001=1+0+3000',
    'offers/net/bad.ndjson loaded 1501=1+0+1500',
  ]);
  expect(
    await landing.query(
      'SELECT path, count(*) AS kept, min(line) AS first, max(line) AS last FROM rejects GROUP BY path ORDER BY path',
    ),
  ).toEqual([
    { path: 'clicks/bad.ndjson', kept: 1000, first: 2, last: 1001 },
    { path: 'conversions/bad.csv', kept: 1000, first: 3, last: 1002 },
    { path: 'offers/net/bad.ndjson', kept: 1000, first: 1, last: 1000 },
  ]);
});

it('of a rejected row the first 2,000 characters and its length are kept', async ({ landing }) => {
  const long = (id: string, end: string) => ({ click_id: id, user_agent: `${'x😀'.repeat(1500)}${end}` });
  const [one, other, good] = [long('a', '1'), long('a', '2'), click('good', long('good', '1'))].map((record) =>
    JSON.stringify(record),
  );
  const late = click('bad', { offer_id: '7', clicked_at: 'y'.repeat(3000) });
  await landing.put('clicks/a.ndjson', [good ?? '', one ?? '', other ?? '', one ?? '', 'short']);
  await landing.put('clicks/b.csv', csv([click('fine'), late]));
  await landing.put('conversions/a.json', JSON.stringify([long('b', '')]));
  const offer = { external_id: 'taken', id: 5, title: 'T', payout: '1', description: 'd'.repeat(4000) };
  await landing.put('offers/net/a.ndjson', [
    JSON.stringify({ ...offer, external_id: 'first' }),
    JSON.stringify(offer),
    `{"external_id":"${'z'.repeat(3000)}`,
  ]);
  await landing.ingest();
  const rejects = await landing.query<{ path: string; line: number; reason: string; raw: string; raw_length: number }>(
    'SELECT path, line, reason, raw, raw_length FROM rejects ORDER BY path, line',
  );
  expect(rejects.map(({ path, line, reason, raw_length }) => [path, line, reason, raw_length])).toEqual([
    ...[2, 3, 4].map((line) => ['clicks/a.ndjson', line, 'missing_offer', Array.from(one ?? '').length]),
    ['clicks/a.ndjson', 5, 'not_json_object', 5],
    ['clicks/b.csv', 3, 'bad_clicked_at', JSON.stringify(late).length],
    ['conversions/a.json', 1, 'missing_conversion_id', JSON.stringify(long('b', '')).length - 1500],
    ['offers/net/a.ndjson', 2, 'id_taken', JSON.stringify(offer).length],
    ['offers/net/a.ndjson', 3, 'not_json_object', 3016],
  ]);
  for (const { raw, raw_length } of rejects) expect(Array.from(raw).length).toBe(Math.min(raw_length, 2000));
  expect(rejects[0]?.raw).toBe(
    Array.from(one ?? '')
      .slice(0, 2000)
      .join(''),
  );
  expect(await landing.ids('clicks')).toEqual(['fine', 'good']);
});

it('a catalog of more than a million records is quarantined, whatever its format, and stops no other', async ({
  landing,
}) => {
  await landing.put('offers/lines/a.ndjson.gz', gzipSync('{}\n'.repeat(1_000_001), { level: 1 }));
  await landing.put('offers/table/a.csv', `external_id,title\n${',\n'.repeat(1_001_001)}`);
  await landing.put('offers/net/a.ndjson', [{ external_id: 'x', title: 'T', payout: '1' }]);
  expect(await landing.ingest()).toMatchObject({ quarantined: 2, rows: 1, accepted: 1 });
  expect((await landing.ledger()).toSorted()).toEqual([
    'offers/lines/a.ndjson.gz quarantined too_many_records 0=0+0+0',
    'offers/net/a.ndjson loaded 1=1+0+0',
    'offers/table/a.csv quarantined too_many_records 0=0+0+0',
  ]);
});

it('a document of millions of records is taken apart in little memory', async ({ landing }) => {
  const path = await landing.put('conversions/a.json', `[${'{},'.repeat(3_000_000)}{}]`);
  const [file] = (await findLandingFiles(landing.data.landing)).files;
  const worker = new Worker(new URL('../../../../src/pipeline/landing/files/check-file-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 32 },
  });
  worker.postMessage({ file, reading: { scratchPath: `${path}.part`, limits: noLimits } });
  const [answer] = (await once(worker, 'message')) as [{ check?: FileCheck; error?: Error }];
  await worker.terminate();
  expect(answer.error).toBeUndefined();
  expect((await stat(answer.check?.readablePath ?? '')).size).toBe(3 * 3_000_001);
});

it('rows of CSV with too few or too many cells cost no statement each', async ({ landing }) => {
  await landing.put('clicks/a.csv', `${csv([click('a')])}${'x\n1,2,3,4,5,6,7,8\n'.repeat(2000)}`);
  const { connection } = landing.state;
  const run = connection.run.bind(connection);
  let statements = 0;
  connection.run = (sql: string, ...rest) => {
    statements++;
    return run(sql, ...rest);
  };
  await landing.ingest();
  expect(await landing.ledger()).toEqual(['clicks/a.csv loaded 4001=1+0+4000']);
  expect(statements).toBeLessThan(200);
});

it('long lines are read apart, and keep their numbers', slow, async ({ landing }) => {
  const long = (id: string, fields: object = {}) => click(id, { user_agent: 'x'.repeat(40_000), ...fields });
  const bad = { ...long('bad'), offer_id: 0 };
  const rows = [
    click('a'),
    long('b'),
    bad,
    'short',
    long('c', { new_field: 1 }),
    click('d', { sub1: 'first' }),
    long('d'),
    long('e', { sub1: 'first' }),
    click('e'),
    bad,
  ];
  await landing.put('clicks/a.ndjson', [
    ...rows,
    ...Array.from({ length: 40 }, (_, index) => ({
      ...long(`giant ${index}`),
      offer_id: 0,
      sub1: 'y'.repeat(1_000_000),
    })),
  ]);
  await landing.put('clicks/b.json', JSON.stringify([click('f'), long('g'), bad]));
  await landing.put(
    'clicks/c.csv',
    csv(
      [click('h'), long('i'), { ...bad, click_id: 'bad' }].map((record) => ({
        ...record,
        user_agent: record['user_agent'] ?? '',
      })),
    ),
  );
  await landing.ingest();
  expect(await landing.ledger()).toEqual([
    'clicks/a.ndjson loaded 50=5+2+43',
    'clicks/b.json loaded 3=2+0+1',
    'clicks/c.csv loaded 3=2+0+1',
  ]);
  expect((await landing.rejects()).filter((reject) => !/:(1[1-9]|[2-5]\d) /.test(reject))).toEqual([
    'clicks/a.ndjson:3 bad_offer_id',
    'clicks/a.ndjson:4 not_json_object',
    'clicks/a.ndjson:10 bad_offer_id',
    'clicks/b.json:3 bad_offer_id',
    'clicks/c.csv:4 bad_offer_id',
  ]);
  expect(await landing.query('SELECT DISTINCT line FROM rejects WHERE line > 10 ORDER BY line')).toEqual(
    Array.from({ length: 40 }, (_, index) => ({ line: 11 + index })),
  );
  expect(await landing.events('clicks', 'click_id, length(user_agent) AS long, sub1')).toEqual(
    [
      ['a', null, null],
      ['b', 40_000, null],
      ['c', 40_000, null],
      ['d', null, 'first'],
      ['e', 40_000, 'first'],
      ['f', null, null],
      ['g', 40_000, null],
      ['h', null, null],
      ['i', 40_000, null],
    ].map(([click_id, length, sub1]) => ({ click_id, long: length, sub1 })),
  );
  expect(await landing.warnings()).toEqual(['clicks/a.ndjson unknown_field new_field 1']);
});

it('of unknown fields the first twenty are named and the others counted, in a few statements', async ({ landing }) => {
  const unknown = (row: number) =>
    Object.fromEntries(Array.from({ length: 10 }, (_, field) => [`p${String(row).padStart(4, '0')}_${field}`, 1]));
  const rows = Array.from({ length: 1000 }, (_, row) => row);
  await landing.put(
    'clicks/a.ndjson',
    rows.map((row) => click(`c${row}`, unknown(row))),
  );
  await landing.put('clicks/b.ndjson', [click('few', { z: 1, y: 2, [`long${'g'.repeat(5000)}`]: 1 })]);
  await landing.put(
    'offers/net/a.ndjson',
    rows.map((row) => ({ external_id: `x${row}`, title: 'T', payout: '1', ...unknown(row) })),
  );
  await landing.put('offers/other/a.ndjson', [
    '{"external_id":"y","title":"T","payout":"1","half \\ud83d":1,"stars":9}',
  ]);
  const { connection } = landing.state;
  const run = connection.run.bind(connection);
  let inserts = 0;
  connection.run = (sql: string, ...rest) => {
    if (sql.includes('INSERT INTO ingest_warnings')) inserts++;
    return run(sql, ...rest);
  };
  expect(await landing.ingest()).toMatchObject({ warnings: 10_000 + 3 + 10_000 + 2 });
  expect(inserts).toBeLessThan(5);
  const first = rows.slice(0, 2).flatMap((row) => Object.keys(unknown(row)));
  expect(await landing.warnings()).toEqual([
    'clicks/a.ndjson further_unknown_fields 9980',
    ...first.map((name) => `clicks/a.ndjson unknown_field ${name} 1000`),
    `clicks/b.ndjson unknown_field long${'g'.repeat(96)} 1`,
    'clicks/b.ndjson unknown_field y 1',
    'clicks/b.ndjson unknown_field z 1',
    'offers/net/a.ndjson further_unknown_fields 9980',
    ...first.map((name) => `offers/net/a.ndjson unknown_field ${name} 1`),
    'offers/other/a.ndjson bad_stars stars 1',
    'offers/other/a.ndjson unknown_field half \ufffd 1',
  ]);
});

it('numbers of thousands of digits are text like any other, and rejected where a number is wanted', async ({
  landing,
}) => {
  const raw = (record: object, field: string) =>
    JSON.stringify({ ...record, [field]: 0 }).replace(`"${field}":0`, `"${field}":${digits}`);
  await landing.put('clicks/a.ndjson', [
    raw(click('offer'), 'offer_id'),
    raw(click('user'), 'user_id'),
    raw(click('extra'), 'extra'),
    JSON.stringify(click('good')),
  ]);
  await landing.put('conversions/a.ndjson', [
    raw(conversion('payout'), 'payout'),
    raw(conversion('fraction'), 'payout').replace(digits, `0.${digits}`),
    JSON.stringify(conversion('good')),
  ]);
  await landing.put('offers/net/a.ndjson', [
    ...['id', 'payout', 'stars', 'daily_cap'].map((field) =>
      raw({ external_id: field, title: 'T', payout: '1' }, field),
    ),
    JSON.stringify({ external_id: 'good', title: 'T', payout: '1' }),
  ]);
  await landing.ingest();
  expect(await landing.ids('clicks')).toEqual(['extra', 'good']);
  expect(await landing.ids('conversions')).toEqual(['good credit']);
  expect(
    await landing.query(
      'SELECT path, rows = accepted + duplicates + rejected AS adds_up, rejected FROM ingest_files ORDER BY path',
    ),
  ).toEqual([
    { path: 'clicks/a.ndjson', adds_up: true, rejected: 2 },
    { path: 'conversions/a.ndjson', adds_up: true, rejected: 2 },
    { path: 'offers/net/a.ndjson', adds_up: true, rejected: 2 },
  ]);
});
