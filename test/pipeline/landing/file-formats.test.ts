import { stat } from 'node:fs/promises';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { parseSettings } from '../../../src/kit/config/settings.ts';
import { it } from '../../support/landing-test.ts';
import { workbookOf, zipOf } from '../../support/packed-files.ts';
import { parquet } from '../../support/parquet.ts';

const time = '2026-11-18T10:00:00Z';
const click = (id: string, user = 'zoë') => ({
  click_id: id,
  offer_id: 7,
  site_key: 's',
  user_id: user,
  clicked_at: time,
});
const header = ['click_id', 'offer_id', 'site_key', 'user_id', 'clicked_at'];
const rows = [
  ['a', '7', 's', 'zoë', time],
  ['b', '7', 's', 'u', time],
];
const table = (delimiter: string, names: readonly string[] = header) =>
  [names, ...rows].map((row) => `${row.join(delimiter)}\n`).join('');
const lines = [click('a'), click('b', 'u')].map((each) => `${JSON.stringify(each)}\n`).join('');
const pretty = JSON.stringify([click('a'), click('b', 'u')], null, 2);
const documents = [click('a'), click('b', 'u')].map((each) => JSON.stringify(each, null, 2));
/** `lines`, each packed by itself by bzip2, since Node has no such writer. */
const bzip2 = Buffer.from(
  'QlpoOTFBWSZTWfxvGN0AAC9blAAQEAZx0AQQryyeOgAICAAgAEDU9IKGEaenqA09U/UhjCYmTATAAfny592ViIveEIK4Cpr9mKpUFcx4lOlJASBVMeWHFN7BAYRWmlkLMPUJsEIue4I56xSRc94fxdyRThQkPxvGN0BCWmg5MUFZJlNZTRYv4wAALtuAABAQBnHQBBC/LJ4qIABIap+lPU0AG1PUBk0Gp6UBoAAwT9UpOMtJ8fEV0xCEl8gxaMAyMC+4tWyEFAUF0zkhKF1AQXVdW90YpB7rEGIweDMrJhWm/F3JFOFCQTRYv4w=',
  'base64',
);
const workbook = workbookOf({
  Clicks: [null, ['Click ID', 'offer-id', 'SiteKey', 'user id', 'clicked_at'], ...rows.map((row) => [...row, null])],
  Other: [['x']],
});

describe('files are read by their bytes', () => {
  it.for<[what: string, name: string, bytes: string | Uint8Array]>([
    ['cells cut by semicolons', 'a.csv', table(';')],
    ['cells cut by tabs', 'a.csv', table('\t')],
    ['cells cut by bars', 'a.txt', table('|')],
    ['a line that tells the delimiter', 'a.csv', `sep=;\r\n${table(';')}`],
    ['a line that tells the delimiter of Excel with a mark', 'a.csv', `\ufeffsep=;\r\n${table(';')}`],
    [
      'a header in capitals, with blanks and dashes',
      'a.csv',
      table(',', ['Click ID', 'OFFER-ID', 'SiteKey', 'User_Id', 'Clicked At']),
    ],
    ['a header with blanks behind commas', 'a.csv', table(',').replace(header.join(','), header.join(', '))],
    ['a header with a line break in a name', 'a.csv', table(';', ['"Click\nID"', ...header.slice(1)])],
    ['blank lines before the header and at the end', 'a.csv', `\n \n${table(',')}\n   \n\n`],
    ['a last column without a name', 'a.csv', table(',').replaceAll('\n', ',\n')],
    ['UTF-16 as Excel writes it', 'a.txt', Buffer.from(`\ufeff${table('\t')}`, 'utf16le')],
    ['UTF-16 of the other order', 'a.txt', Buffer.from(`\ufeff${table('\t')}`, 'utf16le').swap16()],
    ['UTF-16 of JSON', 'a.json', Buffer.from(`\ufeff${pretty}`, 'utf16le')],
    ['CSV that claims to be packed', 'a.csv.gz', table(',')],
    ['lines that claim to be packed', 'a.ndjson.gz', lines],
    ['a gzip without its ending', 'a.csv', gzipSync(table(','))],
    ['zstd', 'a.csv.zst', zstdCompressSync(table(','))],
    ['zstd of two frames', 'a.ndjson.zst', Buffer.concat(lines.split(/(?<=\n)/).map((line) => zstdCompressSync(line)))],
    ['bzip2 of two streams', 'a.ndjson.bz2', bzip2],
    ['a zip with one member', 'a.csv.zip', zipOf({ 'folder/Clicks (1).csv': table(','), '__MACOSX/._x': 'x' })],
    ['a zip of a member without its ending', 'a.csv', zipOf({ clicks: lines })],
    ['lines named .json', 'a.json', lines],
    ['an array named .ndjson', 'a.ndjson', pretty],
    ['an array on one line', 'a.ndjson', JSON.stringify([click('a'), click('b', 'u')])],
    ['an object with a list', 'a.jsonl', `{"next":null,"clicks":${pretty}}`],
    [
      'an object with a list on one line',
      'a.jsonl',
      JSON.stringify({ site_key: 'x', clicks: [click('a'), click('b', 'u')] }),
    ],
    ['a pretty document after another', 'a.json', documents.join('\n')],
    ['documents back to back', 'a.json', [click('a'), click('b', 'u')].map((each) => JSON.stringify(each)).join('')],
    ['record separators', 'a.json', documents.map((each) => `\u001e${each}\n`).join('')],
    ['pages one after another', 'a.json', `{"clicks":[${documents[0]}]}\n{"clicks":[${documents[1]}]}\n`],
    ['a workbook', 'a.xlsx', workbook],
    ['a workbook that claims to be CSV', 'a.csv', workbook],
  ])('%s', async ([, name, bytes], { landing }) => {
    await landing.putAt(`clicks/${name}`, bytes, '2026-11-01T00:00:00Z');
    await landing.ingest();
    expect(await landing.ledger()).toEqual([`clicks/${name} loaded 2=2+0+0`]);
    expect(await landing.warnings()).toEqual([]);
    expect(await landing.events('clicks', 'click_id, offer_id, site_key, user_id')).toEqual([
      { click_id: 'a', offer_id: 7, site_key: 's', user_id: 'zoë' },
      { click_id: 'b', offer_id: 7, site_key: 's', user_id: 'u' },
    ]);
  });

  it.for<[what: string, name: string, bytes: string | Uint8Array, reason: string, detail: RegExp]>([
    ['Latin-1', 'a.csv', Buffer.from(table(';'), 'latin1'), 'bad_utf8', /format\.encoding/],
    ['a comma behind each line', 'a.ndjson', lines.replaceAll('\n', ',\n'), 'comma_behind_record', /comma/],
    ['a comma behind pretty documents', 'a.json', documents.join(',\n'), 'comma_behind_record', /comma/],
    ['a document without a list', 'a.json', '{"error": "denied"}', 'no_single_array', /0 arrays/],
    ['a document with two lists', 'a.json', '{"clicks": [], "errors": []}', 'no_single_array', /format\.records/],
    ['a list within', 'a.json', `{"data": {"items": ${pretty}}}`, 'no_single_array', /format\.records/],
    ['a truncated zstd', 'a.csv.zst', zstdCompressSync(table(',')).subarray(0, -3), 'broken_zstd', /truncated/],
    ['a truncated bzip2', 'a.csv.bz2', bzip2.subarray(0, -5), 'broken_bzip2', /truncated/],
    ['a truncated zip', 'a.csv.zip', zipOf({ 'a.csv': table(',') }).subarray(0, -30), 'broken_zip', /truncated/],
    [
      'a zip of two files',
      'a.csv.zip',
      zipOf({ 'a.csv': table(','), 'b.csv': table(';') }),
      'not_one_member',
      /2 files/,
    ],
    [
      'a zip of two files with one name',
      'a.csv.zip',
      Buffer.from(zipOf({ 'a.csv': 'x', 'b.csv': 'y' }).toString('latin1').replaceAll('b.csv', 'a.csv'), 'latin1'),
      'broken_zip',
      /two members with the name a\.csv/,
    ],
    ['a gzip in a zip', 'a.csv.zip', zipOf({ 'a.csv.gz': gzipSync(table(',')) }), 'packed_twice', /gzip/],
    ['an old workbook', 'a.xlsx', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'old_workbook', /\.xlsx/],
    ['a page of HTML', 'a.csv', '<!DOCTYPE html><html><body>Sign in</body></html>', 'no_records', /HTML/],
    ['two spellings of a column', 'a.csv', table(',', [...header.slice(1), 'Offer ID']), 'bad_header', /one name/],
    ['no bytes of a zip', 'a.csv.zip', '', 'broken_zip', /no bytes/],
  ])('but not %s', async ([, name, bytes, reason, detail], { landing }) => {
    await landing.putAt(`clicks/${name}`, bytes, '2026-11-01T00:00:00Z');
    await landing.ingest();
    expect(await landing.ledger()).toEqual([`clicks/${name} quarantined ${reason} 0=0+0+0`]);
    const [row] = await landing.query<{ reason: string }>('SELECT reason FROM ingest_files');
    expect(row?.reason).toMatch(detail);
  });

  it.for<[what: string, name: string]>([
    ['braces', '{adid}'],
    ['brackets', '[click id]'],
  ])('a header that begins with a name in %s is one of CSV', async ([, name], { landing }) => {
    const named = [[name, ...header], ...rows.map((row) => ['x', ...row])].map((row) => `${row.join(';')}\n`);
    await landing.put('clicks/a.csv', named.join(''));
    await landing.ingest();
    expect(await landing.ledger()).toEqual(['clicks/a.csv loaded 2=2+0+0']);
    expect(await landing.warnings()).toEqual([`clicks/a.csv unknown_field ${name} 2`]);
  });

  it.for<[what: string, first: string]>([
    ['braces', '{adid},{country}'],
    ['brackets', '[adid],[country]'],
    ['a row', '{click_id:1},{click_id:2}'],
  ])('above lines of JSON a line of %s is a bad row', async ([, first], { landing }) => {
    await landing.put('clicks/a.csv', `${first}\n${lines}`);
    await landing.ingest();
    expect(await landing.ledger()).toEqual(['clicks/a.csv loaded 3=2+0+1']);
    expect(await landing.rejects()).toEqual(['clicks/a.csv:1 not_json_object']);
  });

  it('a checksum in a zip is compared', async ({ landing }) => {
    const zip = zipOf({ 'a.csv': table(',') });
    // The sum in the list of members.
    const at = zip.lastIndexOf('PK\u0001\u0002') + 16;
    zip.writeUInt8(zip.readUInt8(at) ^ 1, at);
    await landing.putAt('clicks/a.csv.zip', zip, '2026-11-01T00:00:00Z');
    await landing.ingest();
    expect(await landing.ledger()).toEqual(['clicks/a.csv.zip quarantined broken_zip 0=0+0+0']);
  });
});

describe('absent values', () => {
  it.for<[name: string, bytes: string | Uint8Array]>([
    ['a.csv', `${header.join(',')},sub1\na,7,s,u,${time},\\N\nb,\\N,s,u,${time},x\nc,7,s,\\N,${time},x\n`],
    [
      'a.ndjson',
      ['a', 'b', 'c']
        .map((id) => ({ ...click(id, 'u'), sub1: id === 'a' ? '\\N' : 'x' }))
        .map((row) => (row.click_id === 'b' ? { ...row, offer_id: '\\N' } : row))
        .map((row) => `${JSON.stringify(row.click_id === 'c' ? { ...row, user_id: '\\N' } : row)}\n`)
        .join(''),
    ],
  ])('are written as \\N in %s', async ([name, bytes], { landing }) => {
    await landing.put(`clicks/${name}`, bytes);
    await landing.ingest();
    expect(await landing.events('clicks', 'click_id, sub1')).toEqual([{ click_id: 'a', sub1: null }]);
    expect((await landing.rejects()).map((reject) => reject.split(' ')[1])).toEqual([
      'missing_offer',
      'missing_user_id',
    ]);
    expect(await landing.warnings()).toEqual([]);
  });

  it('are written as NULL in CSV, with a warning, but not in quotes', async ({ landing }) => {
    await landing.put(
      'clicks/a.csv',
      `${header.join(',')},sub1,sub2,other\na,7,s,u,${time},NULL,"NULL",NULL\nb,7,s,NULL,${time},NULL,,\n`,
    );
    await landing.put('offers/net/a.csv', 'external_id,title,payout,level\nx,X,1,NULL\ny,NULL,1,\n');
    await landing.ingest();
    expect(await landing.events('clicks', 'click_id, sub1, sub2')).toEqual([
      { click_id: 'a', sub1: null, sub2: 'NULL' },
    ]);
    expect((await landing.rejects()).toSorted()).toEqual([
      'clicks/a.csv:3 missing_user_id',
      'offers/net/a.csv:3 missing_title',
    ]);
    expect(await landing.warnings()).toEqual([
      'clicks/a.csv null_text sub1 2',
      'clicks/a.csv null_text user_id 1',
      'clicks/a.csv unknown_field other 1',
      'offers/net/a.csv null_text level 1',
      'offers/net/a.csv null_text title 1',
    ]);
  });
});

describe('errors of a workbook', () => {
  it('are absent values, with a warning', async ({ landing }) => {
    const [missing, reference] = [{ error: '#N/A' }, { error: '#REF!' }];
    const clicks = [
      [...header, 'sub1', reference],
      ['a', { number: '7' }, 's', 'u', time, missing, reference],
      [missing, { number: '7' }, 's', 'u', time, null, null],
      [missing, { number: '7' }, 's', 'v', time, '#N/A', null],
    ];
    const offers = [
      ['external_id', 'title', 'payout'],
      ['x', reference, { number: '1' }],
    ];
    await landing.put('clicks/a.xlsx', workbookOf({ Data: clicks }));
    await landing.put('offers/net/a.xlsx', workbookOf({ Data: offers }));
    await landing.ingest();
    expect(await landing.events('clicks', 'click_id, sub1')).toEqual([{ click_id: 'a', sub1: null }]);
    expect((await landing.rejects()).toSorted()).toEqual([
      'clicks/a.xlsx:3 missing_click_id',
      'clicks/a.xlsx:4 missing_click_id',
      'offers/net/a.xlsx:2 missing_title',
    ]);
    expect(await landing.warnings()).toEqual([
      'clicks/a.xlsx null_text click_id 2',
      'clicks/a.xlsx null_text sub1 1',
      'clicks/a.xlsx unknown_field #REF! 1',
      'offers/net/a.xlsx null_text title 1',
    ]);
  });
});

describe('Parquet', () => {
  const select = `'c' AS click_id, 7 AS offer_id, TIMESTAMPTZ '${time}' AS clicked_at`;

  it('has columns of the folders that it lies in, where it lacks them', async ({ landing }) => {
    const bytes = await parquet(`SELECT ${select}, 'own' AS user_id`);
    await landing.put('clicks/dt=2026-11-18/site_key=b%20%C3%A9/user_id=other/a.parquet', bytes);
    await landing.ingest();
    expect(await landing.events('clicks', 'click_id, site_key, user_id')).toEqual([
      { click_id: 'c', site_key: 'b é', user_id: 'own' },
    ]);
    expect(await landing.warnings()).toEqual([]);
  });

  it('has those that a mapping names, where it lacks them', async ({ landing }) => {
    const bytes = await parquet(`SELECT 'c' AS id, 7 AS offer, 'u' AS who, 'click' AS kind, '${time}' AS at`);
    await landing.put('clicks/lake/Site=b%20%C3%A9/kind=view/other=1/a.parquet', bytes);
    const fields = { click_id: 'id', offer_id: 'offer', site_key: 'site', user_id: 'who', clicked_at: 'at' };
    const files = [{ match: 'clicks/lake/**', rows: { at: 'kind', is: 'click' }, fields }];
    await landing.ingest({ settings: parseSettings(JSON.stringify({ files }), 'offerline.json') });
    expect(await landing.events('clicks', 'click_id, site_key, user_id')).toEqual([
      { click_id: 'c', site_key: 'b é', user_id: 'u' },
    ]);
  });

  it('counts once it lies in the folder that it needs', async ({ landing }) => {
    const bytes = await parquet(`SELECT ${select}, 'u' AS user_id`);
    await landing.put('clicks/a.parquet', bytes);
    await landing.ingest();
    await landing.put('clicks/Site-Key=beta/a.parquet', bytes);
    await landing.ingest();
    expect(await landing.ledger()).toEqual([
      'clicks/a.parquet quarantined missing_column 0=0+0+0',
      'clicks/Site-Key=beta/a.parquet loaded 1=1+0+0',
    ]);
  });

  it('counts once for each value of the folders that are its columns, and for no other folder', async ({ landing }) => {
    const of = async (id: string) =>
      parquet(`SELECT '${id}' AS conversion_id, 'c' AS click_id, TIMESTAMPTZ '${time}' AS occurred_at`);
    const [bytes, other] = [await of('v'), await of('w')];
    const csv = `conversion_id,click_id,kind,occurred_at\nx,c,credit,${time}\n`;
    await landing.put('conversions/p/kind=pending/dt=1/data_0.parquet', bytes);
    await landing.put('conversions/p/country=DE/a.csv', csv);
    await landing.ingest();
    await landing.put('conversions/p/kind=credit/data_0.parquet', bytes);
    expect(await landing.ingest()).toMatchObject({ files: 1, accepted: 1 });
    await landing.put('conversions/p/dt=2/kind=pending/data_1.parquet', bytes);
    await landing.put('conversions/q/year=2026/Kind=credit/renamed.parquet', bytes);
    await landing.put('conversions/p/country=AT/kind=reject/a.csv', csv);
    expect(await landing.ingest()).toMatchObject({ files: 0, readAgain: 0 });
    await landing.put('conversions/p/kind=credit/w.parquet', other);
    await landing.put('conversions/p/kind=reject/w.parquet', other);
    await landing.put('conversions/p/kind=reject/year=1/w.parquet', other);
    expect(await landing.ingest()).toMatchObject({ files: 2, accepted: 2 });
    expect(await landing.ids('conversions')).toEqual(['v credit', 'v pending', 'w credit', 'w reject', 'x credit']);
    expect((await landing.ledger()).filter((entry) => !entry.endsWith(' loaded 1=1+0+0'))).toEqual([]);
  });

  it('a copy that was passed over before its folders were columns is not read for it', async ({ landing }) => {
    const bytes = await parquet(`SELECT 'v' AS conversion_id, 'c' AS click_id, TIMESTAMPTZ '${time}' AS occurred_at`);
    await landing.put('conversions/kind=pending/a.parquet', bytes);
    await landing.ingest();
    const copy = 'conversions/kind=credit/a.parquet';
    const { size, mtimeNs, ctimeNs } = await stat(await landing.put(copy, bytes), { bigint: true });
    await landing.query(
      `INSERT INTO landing_seen SELECT '${copy}', ${size}, ${mtimeNs}, ${ctimeNs}, sha256 FROM ingest_files`,
    );
    expect(await landing.ingest()).toMatchObject({ files: 0, readAgain: 0 });
  });

  it('has no value of a folder of rows without one', async ({ landing }) => {
    const bytes = await parquet(`SELECT ${select}, 'u' AS user_id`);
    await landing.put('clicks/site_key=__HIVE_DEFAULT_PARTITION__/a.parquet', bytes);
    await landing.ingest();
    expect(await landing.rejects()).toEqual([
      'clicks/site_key=__HIVE_DEFAULT_PARTITION__/a.parquet:1 missing_site_key',
    ]);
  });

  it('may spell names of columns differently', async ({ landing }) => {
    await landing.put('clicks/a.parquet', await parquet(`SELECT ${select}, 'b' AS "Site Key", 'u' AS "USER-ID"`));
    await landing.put(
      'clicks/b.parquet',
      await parquet(`SELECT ${select}, 'b' AS site_key, 'u' AS userid, 'v' AS user_id`),
    );
    // DuckDB writes and reads no two names that are equal but for case.
    const nested = '{a: 1, b: [{c: 2}]} AS "user"';
    const twice = await parquet(`SELECT ${select}, 'b' AS site_key, ${nested}, 'u' AS "USER_IX", 'v' AS user_id`);
    const names = twice.toString('latin1').replaceAll('USER_IX', 'USER_ID');
    await landing.put('clicks/c.parquet', Buffer.from(names, 'latin1'));
    await landing.ingest();
    expect((await landing.ledger()).toSorted()).toEqual([
      'clicks/a.parquet loaded 1=1+0+0',
      'clicks/b.parquet quarantined bad_header 0=0+0+0',
      'clicks/c.parquet quarantined bad_header 0=0+0+0',
    ]);
  });
});
