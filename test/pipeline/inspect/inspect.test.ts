import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { readSettings } from '../../../src/kit/config/settings.ts';
import { inspectFile, type InspectRequest } from '../../../src/pipeline/inspect/inspect.ts';
import { writeMapping } from '../../../src/pipeline/inspect/write-mapping.ts';
import { zipOf } from '../../support/packed-files.ts';

const now = Date.parse('2026-11-20T00:00:00Z');

async function newData(): Promise<DataDirectory> {
  const root = await mkdtemp(join(tmpdir(), 'offerline-inspect-test-'));
  onTestFinished(() => rm(root, { recursive: true }));
  return new DataDirectory(root);
}

async function inspected(
  text: string | Buffer,
  { name = 'landing/clicks/partner/a.csv', ...request }: Partial<InspectRequest> & { name?: string } = {},
  data?: DataDirectory,
) {
  const directory = data ?? (await newData());
  const file = join(directory.root, name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return inspectFile(directory, readSettings(directory), { file, ...request }, now);
}

const foreign = `Click ID;Offer ID;Sub1;aff_sub;Click time;Country
c-1;7;u-1;x;18/11/2026 10:00:00;DE
c-2;8;u-2;y;19/11/2026 11:00:00;AT
`;

describe('a file of other columns', () => {
  it('is recognized, with a mapping by known names and what a person has to decide', async () => {
    const found = await inspected(foreign);
    expect(found).toMatchObject({
      format: 'csv',
      kind: 'clicks',
      records: 2,
      problem: null,
      mapping_is: 'proposed',
      written: {
        match: 'clicks/partner/**',
        fields: {
          click_id: 'Click ID',
          clicked_at: { at: 'Click time', time: '%d/%m/%Y %H:%M:%S' },
          country: 'Country',
        },
      },
    });
    expect(found.places.find(({ place }) => place === 'Click ID')).toEqual({
      place: 'Click ID',
      filled: 1,
      examples: ['c-1', 'c-2'],
    });
    expect(found.doubts.join('\n')).toContain('clicked_at: its times have no offset');
    expect(found.missing.join('\n')).toContain('site_key');
  });

  it.each([
    ['05/11/2026 01:05:09 PM', '%m/%d/%Y %I:%M:%S %p', '%d/%m/%Y %I:%M:%S %p'],
    ['05/11/2026 01:05 PM', '%m/%d/%Y %I:%M %p', '%d/%m/%Y %I:%M %p'],
    ['11/05/2026 13:05:09', '%m/%d/%Y %H:%M:%S', '%d/%m/%Y %H:%M:%S'],
    ['11/05/2026 13:05', '%m/%d/%Y %H:%M', '%d/%m/%Y %H:%M'],
  ])('asks which number of %s is the month', async (time, one, other) => {
    const known = await inspected(`Click ID;Click time\nc-1;${time}\n`);
    expect(known.written?.fields).toMatchObject({ clicked_at: { time: one } });
    expect(known.doubts).toContain(`clicked_at: "${other}" would fit as well`);
    const unknown = await inspected(`Click ID;Zeitpunkt\nc-1;${time}\n`);
    expect(unknown.doubts.join('\n')).toContain(`"time": "${one}"`);
    expect(unknown.doubts.join('\n')).toContain(`"${other}" would fit as well`);
  });

  it('is tried by the mapping of offerline.json: rows as they would be, rejects by reason', async () => {
    const data = await newData();
    await writeMapping(data, {
      match: 'clicks/partner/**',
      fields: {
        click_id: 'Click ID',
        offer_id: 'Offer ID',
        site_key: { value: 'one' },
        user_id: 'Sub1',
        clicked_at: { at: 'Click time', time: '%d/%m/%Y %H:%M:%S', zone: 'UTC' },
        country: 'Country',
      },
    });
    const found = await inspected(`${foreign}c-3;9;u-3;z;40/11/2026 11:00:00;AT\n`, {}, data);
    expect(found).toMatchObject({ mapping_is: 'configured', written: null, tried: 3, problem: null });
    expect(found.rows[0]).toEqual({
      click_id: 'c-1',
      offer_id: 7,
      site_key: 'one',
      user_id: 'u-1',
      clicked_at: '2026-11-18T10:00:00Z',
      country: 'DE',
    });
    expect(found.rejects).toEqual([
      {
        reason: 'bad_clicked_at',
        rows: 1,
        line: 4,
        raw: expect.stringContaining('"Click time":"40/11/2026') as string,
        cure: expect.stringContaining('"time"') as string,
      },
    ]);
  });

  it.each([
    ['1.250|2.500|12.750', {}, 'is the point its decimal point, or between thousands?'],
    ['$1.250|$2.500', { strip: ['$'] }, 'is the point its decimal point, or between thousands?'],
    ['1,250|2,500|12,750', { decimal: ',' }, 'is the comma its decimal point, or between thousands?'],
    ['1.250|2.5', {}, undefined],
    ['0.125|0.250', {}, undefined],
    ['5|$7', { strip: ['$'] }, undefined],
    ['$1.25|$2.50|($3.00)', { strip: ['$'] }, 'not all of its values are amounts, such as "($3.00)"'],
    ['1.250,50|N/A|2,00', { decimal: ',', group: '.' }, 'not all of its values are amounts, such as "N/A"'],
    ['1.250,50|1,250.00|2,00', { decimal: ',', group: '.' }, 'not all of its values are amounts, such as "1,250.00"'],
  ])('asks what the amounts %s do not decide, and reads most of them', async (amounts, number, doubt) => {
    const rows = amounts.split('|').map((amount, index) => `v-${index};c-1;2026-11-18T10:00:00Z;${amount}\n`);
    const text = `Transaction ID;Click ID;Conversion Time;Payout\n${rows.join('')}`;
    const { written, doubts } = await inspected(text, { as: 'conversions' });
    const isPlain = Object.keys(number).length === 0;
    expect(written?.['fields']).toMatchObject({ payout: isPlain ? 'Payout' : { at: 'Payout', number } });
    const asked = doubts.filter((each) => each.startsWith('payout:'));
    expect(asked).toEqual(doubt === undefined ? [] : [`payout: ${doubt}`]);
  });

  it.each([
    ['1795860000.023|1795860001.5', 'epoch_s', []],
    ['18/11/2026 10:00:00|N/A|19/11/2026 10:00:00', '%d/%m/%Y %H:%M:%S', ['N/A']],
    ['2026-11-18T10:00:00Z|2026-11-18T11:00:00Z|N/A', undefined, ['N/A']],
    ['yesterday|today', undefined, ['yesterday']],
  ])('reads the times %s by %s, and names what no pattern fits', async (times, time, unread) => {
    const rows = times.split('|').map((each, index) => `c-${index},${each}\n`);
    const known = await inspected(`Click ID,Click time\n${rows.join('')}`);
    expect(known.written?.['fields']).toMatchObject({
      clicked_at: time === undefined ? 'Click time' : { at: 'Click time', time },
    });
    expect(known.doubts.filter((doubt) => doubt.includes('no known pattern'))).toEqual(
      unread.map((value) => `clicked_at: no known pattern fits "${value}"; write its own as "time"`),
    );
  });

  it('in our own fields needs no mapping', async () => {
    const text = '{"click_id":"c","offer_id":7,"site_key":"s","user_id":"u","clicked_at":"2026-11-18T10:00:00Z"}\n';
    expect(await inspected(text, { name: 'anywhere.ndjson' })).toMatchObject({
      kind: 'clicks',
      mapping_is: 'none',
      written: null,
      rejects: [],
    });
  });

  it.each([
    ['Click ID,Offer ID,Site Key,User ID,Clicked At', 'c-1,7,s,u,2026-11-18T10:00:00Z', 'clicks'],
    ['Conversion-ID;Click ID;KIND;occurred at', 'v-1;c-1;credit;2026-11-18T10:00:00Z', 'conversions'],
    ['External ID;Title;Payout', 'x-1;One;1.5', 'offers'],
  ] as const)('needs none as a table that spells them %s', async (header, row, kind) => {
    const found = await inspected(`${header}\n${row}\n`, { name: `landing/${kind}/own/a.csv` });
    expect(found).toMatchObject({ mapping_is: 'none', written: null, missing: [], problem: null, rejects: [] });
    expect(found.rows).toHaveLength(1);
  });

  it('but not as lines of JSON that spell them otherwise', async () => {
    const row = {
      'Click ID': 'c-1',
      'Offer ID': 7,
      'Site Key': 's',
      'User ID': 'u',
      clicked_at: '2026-11-18T10:00:00Z',
    };
    expect((await inspected(JSON.stringify(row), { as: 'clicks' })).mapping_is).toBe('proposed');
  });

  it.each([
    ['4.50', '28.11.2026', '"Share" or "Sales"'],
    ['(4,50)', '10.0.0.1', '"Share" or "Sales"'],
    ['$4', '8', '"Share" or "Sales"'],
    ['4', '1000.7001.1', '"Sales"'],
  ])('of conversions whose column of amounts nobody knows leave them in doubt: %s', async (share, other, columns) => {
    const row = (id: string) => `${id};c;approved;2026-11-18T10:00:00Z;${share};1.204,50;${other}\n`;
    const csv = `Transaction ID;aff_sub;status;Event Time;Share;Sales;Other\n${row('v')}${row('w')}`;
    const found = await inspected(csv, { as: 'conversions' });
    expect(found.missing).toEqual([]);
    const doubt = `payout: is it ${columns}? Without it each conversion has the payout of the catalog`;
    expect(found.doubts.filter((each) => each.startsWith('payout:'))).toEqual([doubt]);
  });

  it('of offers whose cap is 0 have none', async () => {
    const row = (id: number, cap: string) => `${id},A,1.5,${cap},25\n`;
    const csv = `Offer ID,Name,Payout,Daily Conversion Cap,Daily Click Cap\n${row(1, '0')}${row(2, '0.00')}${row(3, '40')}`;
    const found = await inspected(csv, { name: 'landing/offers/net/a.csv' });
    expect(found.written?.['fields']).toMatchObject({
      daily_cap: { at: 'Daily Conversion Cap', none: [0] },
      daily_click_cap: 'Daily Click Cap',
    });
    expect(found.doubts.filter((doubt) => doubt.startsWith('daily_'))).toEqual([
      'daily_cap: its 0 is taken for no limit; without "none" such an offer would take nothing',
    ]);
    expect(found.rows.map((offer) => (offer as { daily_cap: unknown }).daily_cap)).toEqual([null, null, 40]);
  });

  it('of a list that was found is asked for in no list of its own', async () => {
    const items = [{ item: 1 }, { item: 2 }];
    const found = await inspected(JSON.stringify({ count: 2, sales: [{ items }, { items }] }), { as: 'conversions' });
    expect(found).toMatchObject({ records: 2, missing: expect.arrayContaining(['click_id']) as string[] });
    expect(found.doubts.filter((doubt) => doubt.includes('--records'))).toEqual([]);
  });

  it.each(['clicks', undefined] as const)('in a list of a document is found there, as %s', async (as) => {
    const click = { offer_id: 7, site_key: 's', user_id: 'u', clicked_at: '2026-11-18T10:00:00Z' };
    const items = ['c-1', 'c-2'].map((click_id) => ({ click_id, ...click }));
    const text = JSON.stringify({ page: { tags: ['a'] }, data: { items } });
    const name = as === undefined ? 'a.json' : 'landing/clicks/partner/a.json';
    const found = await inspected(text, { name });
    expect(found).toMatchObject({ records: 1, kind: as ?? null });
    expect(found.doubts.filter((doubt) => doubt.includes('--records'))).toEqual([
      'its records may be at data.items: --records data.items',
    ]);
    const format = { records: 'data.items' };
    expect(await inspected(text, { name, as: 'clicks', format })).toMatchObject({
      records: 2,
      tried: 2,
      rejects: [],
      mapping_is: 'proposed',
      written: { format },
      doubts: [],
    });
  });

  it('shows its long records among the others', async () => {
    const click = { offer_id: 7, site_key: 's', user_id: 'u', clicked_at: '2026-11-18T10:00:00Z' };
    const clicks = ['', 'x'.repeat(20_000), '', 'y'.repeat(50_000), 'z'.repeat(90_000)].map((user_agent, index) =>
      JSON.stringify({ click_id: `c-${index}`, ...click, user_agent }),
    );
    const found = await inspected(`${clicks.join('\n')}\n`, { name: 'anywhere.ndjson' });
    expect(found).toMatchObject({ records: 5, tried: 5, rejects: [] });
    expect(found.rows.map((row) => (row as { click_id: string }).click_id)).toEqual(
      [0, 1, 2, 3, 4].map((n) => `c-${n}`),
    );
  });

  it('that cannot be read says why, and that nobody knows asks what it is', async () => {
    const unmarked = Buffer.from('Größe;b\nä;1\nÿ', 'utf16le');
    expect((await inspected(unmarked)).problem?.reason).toBe('bad_utf8');
    expect(
      (await inspected(Buffer.from('Größe;b\nä;1\n', 'latin1'), { format: { encoding: 'utf-8' } })).problem,
    ).toBeTruthy();
    const unknown = await inspected('a,b\n1,2\n', { name: 'x.csv' });
    expect([unknown.kind, unknown.doubts.join()]).toEqual([null, expect.stringContaining('--as')]);
    expect((await inspected('Title\n\nx,y,z\n1,2,3\n', { name: 'x.csv' })).doubts.join()).toContain('--header');
  });
});

describe('a table that nobody has seen before', () => {
  const table = `Nummer;Zeitpunkt;Gerät;Vergütung (€);Preis
1;14.11.2026 10:30;Telefon;1.050,00;7
2;15.11.2026 11:45;Desktop;1,20;8
3;gestern;Desktop;auf Anfrage;9
`;

  it('that is not UTF-8 is read as windows-1252, says so, and is proposed with it', async () => {
    const found = await inspected(Buffer.from(table, 'latin1'));
    expect(found).toMatchObject({ problem: null, written: { format: { encoding: 'windows-1252' } } });
    expect(found.places.map(({ place }) => place)).toContain('Gerät');
    expect(found.doubts[0]).toMatch(/not UTF-8.*ä and é are right.*--encoding/);
    // Landing goes by the mapping of offerline.json, which names none.
    const data = await newData();
    await writeFile(
      data.settingsFile,
      JSON.stringify({ files: [{ match: 'clicks/**', rows: { at: 'Nummer', not: [9] } }] }),
    );
    expect((await inspected(Buffer.from(table, 'latin1'), {}, data)).problem?.reason).toBe('bad_utf8');
  });

  it('shows how its columns of times and amounts are read, and leaves plain numbers alone', async () => {
    const { doubts, missing } = await inspected(table);
    expect(missing).toContain('clicked_at');
    expect(doubts).toEqual([
      '"Zeitpunkt" has times, which {"at": "Zeitpunkt", "time": "%d.%m.%Y %H:%M", "zone": "Europe/Berlin"} reads',
      '"Vergütung (€)" has amounts, which {"at": "Vergütung (€)", "number": {"decimal":",","group":"."}} reads',
    ]);
  });

  it('shows what its mapping reads of no column, and values that would be dropped', async () => {
    const data = await newData();
    const fields = {
      click_id: 'Nummer',
      offer_id: 'Preis',
      site_key: { value: 'one' },
      user_id: 'wall',
      clicked_at: { at: 'Zeitpunkt', time: '%d.%m.%Y %H:%M', zone: 'Europe/Berlin' },
      device: 'Gerät',
      country: { at: ['Land', 'Staat'] },
      sub1: { at: 'Gerat', else: { at: 'Nummer' } },
      sub2: { at: 'Geraet', value: 'x' },
    };
    await writeFile(data.settingsFile, JSON.stringify({ files: [{ match: 'clicks/**', fields }] }));
    const { doubts, dropped } = await inspected(table, {}, data);
    expect(doubts).toEqual([
      'user_id: there is no column "wall", so it is absent in all records. A constant is {"value": "wall"}',
      expect.stringMatching(/^country: there is no column "Land" or "Staat", so it is absent/),
    ]);
    expect(dropped).toEqual([]);
    const known = { ...fields, user_id: { value: 'u' }, country: { at: 'Gerat' } };
    await writeFile(data.settingsFile, JSON.stringify({ files: [{ match: 'clicks/**', fields: known }] }));
    expect(await inspected(table, {}, data)).toMatchObject({
      dropped: [{ field: 'device', rows: 1, example: 'Telefon' }],
      doubts: [
        expect.stringContaining('"Gerät" is one.'),
        'device would be dropped in 1 of them, such as "Telefon": "words" says what each of its words means',
      ],
    });
  });

  it('of offers shows values that would be dropped, too', async () => {
    const offers = 'external_id,title,payout,stars,image\na,A,1,many,\nb,B,1,5,\nc,,1,lots,\n';
    expect(await inspected(offers, { name: 'landing/offers/net/a.csv' })).toMatchObject({
      dropped: [{ field: 'stars', rows: 1, example: 'many' }],
      rejects: [{ reason: 'missing_title', rows: 1 }],
    });
  });
});

describe('a header below titles', () => {
  const titles = 'Clicks of October;;\n"Partner ""One""";;\n\n';

  it('is found by names that exports have, and proposed by its row', async () => {
    const found = await inspected(`${titles}${foreign}`);
    expect(found).toMatchObject({ problem: null, records: 2, written: { format: { header: 4 } } });
    expect(found.doubts).toContain('the names of its columns are in row 4, below titles');
    const again = await inspected(`${titles}${foreign}`, { format: { header: 4 } });
    expect(again.places).toEqual(found.places);
    expect(again.rejects).toEqual(found.rejects);
  });

  it.each(['Rewards of the 15" laptop club', '"Rewards of the laptop club', 'By network; "all of them'])(
    'is found below a quote that nothing closes: %s',
    async (title) => {
      const text = 'click_id;offer_id;site_key;user_id;clicked_at\nc;7;s;u;2026-11-18T10:00:00Z\n';
      const found = await inspected(`${title}\n\n${text}`, { name: 'list.csv' });
      expect(found).toMatchObject({ problem: null, rejects: [], rows: [{ click_id: 'c' }] });
      expect(found.written).toEqual({ match: 'clicks/NAME/**', format: { header: 3 } });
    },
  );

  it('is found below a quote within a cell, whatever quotes follow', async () => {
    const text = 'click_id;offer_id;site_key;user_id;clicked_at;sub1\nc;7;s;u;2026-11-18T10:00:00Z;a 15" laptop\n';
    const found = await inspected(`Rewards of the 15" laptop club\n\n${text}`, { name: 'list.csv' });
    expect(found).toMatchObject({ rows: [{ click_id: 'c' }], written: { format: { header: 3 } } });
  });

  it('is proposed alone where the names are ours', async () => {
    const text = `${titles}click_id;offer_id;site_key;user_id;clicked_at\n`;
    const found = await inspected(`${text}c;7;s;u;2026-11-18T10:00:00Z\n`, { name: 'list.csv' });
    expect(found).toMatchObject({ rejects: [], rows: [{ click_id: 'c' }] });
    expect(found.written).toEqual({ match: 'clicks/NAME/**', format: { header: 4 } });
  });

  it('is found in a workbook', async () => {
    const file = new URL('../../../data/exports/workbook-statement/statement.xlsx', import.meta.url);
    const found = await inspected(await readFile(file), { name: 'statement.xlsx', as: 'conversions' });
    expect(found).toMatchObject({ problem: null, written: { format: { header: 3 } } });
  });
});

describe('a table of our own columns', () => {
  it('is tried under the names that landing gives it', async () => {
    const text = 'click_id,offer_id,site_key,user_id,clicked_at,User-Agent\nc,7,s,u,2026-11-18T10:00:00Z,Firefox\n';
    expect(await inspected(text)).toMatchObject({ mapping_is: 'none', rows: [{ user_agent: 'Firefox' }] });
  });

  it('that lacks one which each record needs says so', async () => {
    const data = await newData();
    await writeMapping(data, { match: 'conversions/own/**', format: { skip: 1 } });
    const text = '\nconversion_id,click_id,status,occurred_at\nv,c,approved,2026-11-18T10:00:00Z\n';
    const found = await inspected(text, { name: 'landing/conversions/own/list.csv' }, data);
    expect(found.problem?.reason).toBe('missing_column');
  });
});

it('publishers and affiliates are known as sites', async () => {
  for (const name of ['Publisher', 'Publisher ID', 'Affiliate', 'affiliate_id']) {
    const found = await inspected(`Click ID,Offer ID,${name},Sub1,Click time\nc,7,p,u,2026-11-18T10:00:00Z\n`);
    expect(found.written).toMatchObject({ fields: { site_key: name } });
  }
});

describe('the example of data/README.md', () => {
  const page = readFileSync(new URL('../../../data/README.md', import.meta.url), 'utf8');
  const section = page.slice(page.indexOf('## A file of your own'), page.indexOf('## What may land'));
  const [csv = '', settings = ''] = ['csv', 'json'].map(
    (language) => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(section)?.[1] ?? '',
  );
  const name = 'landing/conversions/partner/october.csv';

  it('is proposed but for what a person has to decide', async () => {
    const found = await inspected(csv, { name });
    expect(found).toMatchObject({ kind: 'conversions', records: 3, missing: ['kind or status'] });
    expect(Object.keys(found.written?.['fields'] as object)).toEqual(
      expect.arrayContaining(['conversion_id', 'click_id', 'occurred_at', 'payout']),
    );
    expect(found.doubts.join()).toMatch(/click_id could be .*"External ID".*its times have no offset/);
  });

  it('is read by the mapping that it shows', async () => {
    const data = await newData();
    await writeFile(data.settingsFile, settings);
    expect(await inspected(csv, { name }, data)).toMatchObject({
      mapping_is: 'configured',
      passed_over: 1,
      rejects: [],
      rows: [
        { click_id: 'cq-1001', kind: 'credit', occurred_at: '2026-11-16T08:40:02Z', payout: '1.350000' },
        { click_id: 'cq-1005', kind: 'reject', payout: '1093.500000' },
      ],
    });
  });
});

describe('a conversion id that several rows have', () => {
  const events = (...times: string[]) => `AppsFlyer ID,Event Name,Event Time,Event Revenue USD,Sub Param 1
1-1,install,2026-11-18T10:00:00Z,0.50,c-1
1-1,purchase,${times[0]},9.00,c-1
1-1,purchase,${times[1]},4.00,c-1
1-2,install,2026-11-18T12:00:00Z,0.50,c-2
1-2,install,2026-11-18T12:00:00Z,0.50,c-2
`;

  it('is joined with the milestone, and with the time where one comes twice', async () => {
    const twice = await inspected(events('2026-11-18T11:00:00Z', '2026-11-18T12:00:00Z'), { as: 'conversions' });
    expect(twice.written?.['fields']).toMatchObject({
      conversion_id: { at: ['AppsFlyer ID', 'Event Name', 'Event Time'], join: ':' },
      event_id: 'Event Name',
    });
    expect(twice.doubts.join('\n')).toContain('"AppsFlyer ID" alone is no id: 2 records would not count');
    const once = events('', '').replace(/1-1,purchase,,4.*\n/, '');
    expect((await inspected(once, { as: 'conversions' })).written?.['fields']).toMatchObject({
      conversion_id: { at: ['AppsFlyer ID', 'Event Name'], join: ':' },
    });
    const alone = once.replace(/1-1,purchase.*\n/, '');
    expect((await inspected(alone, { as: 'conversions' })).written?.['fields']).toMatchObject({
      conversion_id: 'AppsFlyer ID',
    });
    const unnamed = await inspected(once.replace('Event Name', 'What'), { as: 'conversions' });
    expect(unnamed.written?.['fields']).toMatchObject({ conversion_id: 'AppsFlyer ID' });
    expect(unnamed.doubts.join('\n')).toContain('"AppsFlyer ID" alone is no id: 1 record would not count');
  });

  it.each([
    ['conversions/own/a.ndjson', 'credit', 1],
    ['conversions/own/b.csv', 'chargeback', 0],
    ['conversions/states/a.csv', 'credit', 1],
    ['offers/own/a.csv', '', 1],
  ] as const)('is named by what would not count: %s, %s', async (path, kind, conflicts) => {
    const data = await newData();
    const states = { match: 'conversions/states/**', fields: { conversion_id: 'conversion_id', click_id: 'click_id' } };
    const fields = { ...states.fields, status: 'kind', occurred_at: 'occurred_at', event_id: 'event_id' };
    await writeMapping(data, { ...states, fields });
    const row = { conversion_id: 'v', click_id: 'c', occurred_at: '2026-11-18T10:00:00Z' };
    const rows = path.startsWith('offers/')
      ? [
          { external_id: '1', title: 'A', payout: '1', countries: 'US' },
          { external_id: '1', title: 'A', payout: '1', countries: 'DE' },
        ]
      : [
          { ...row, kind: 'credit', event_id: 'one' },
          { ...row, kind, event_id: 'two' },
        ];
    const csv = [Object.keys(rows[0] ?? {}), ...rows.map((each) => Object.values(each))].join('\n');
    const text = path.endsWith('.csv') ? csv : rows.map((each) => JSON.stringify(each)).join('\n');
    const found = await inspected(`${text}\n`, { name: `landing/${path}` }, data);
    expect(found).toMatchObject({ conflicts, rejects: [] });
    expect(found.doubts.some((doubt) => doubt.startsWith('1 of them says something else'))).toBe(conflicts === 1);
  });
});

describe('conversions in our own fields', () => {
  const name = 'landing/conversions/own/a.csv';

  it('are mapped where they say how they stand', async () => {
    const csv = `conversion_id,click_id,status,occurred_at,payout
v-1,c-1,approved,2026-11-18T10:00:00Z,1
v-2,c-2,declined,2026-11-18T10:00:00Z,2
`;
    const [first, ...rows] = csv
      .trim()
      .split('\n')
      .map((line) => line.split(','));
    const records = rows.map((row) => Object.fromEntries(row.map((cell, index) => [first?.[index], cell])) as object);
    for (const text of [csv, `${records.map((each) => JSON.stringify(each)).join('\n')}\n`])
      expect(await inspected(text, { name })).toMatchObject({
        mapping_is: 'proposed',
        written: { fields: { status: { at: 'status', words: { approved: 'credit', declined: 'reject' } } } },
        rejects: [],
        rows: [{ kind: 'credit' }, { kind: 'reject' }],
      });
  });

  it('are mapped where they name another currency than USD', async () => {
    const csv = (currency: string) =>
      `conversion_id,click_id,kind,occurred_at,payout,currency\nv-1,c-1,credit,2026-11-18T10:00:00Z,100,${currency}\n`;
    const found = await inspected(csv('INR'), { name });
    const own = ['conversion_id', 'click_id', 'kind', 'occurred_at', 'payout', 'currency'];
    expect(found).toMatchObject({
      mapping_is: 'proposed',
      written: { match: 'conversions/own/**', fields: Object.fromEntries(own.map((field) => [field, field])) },
      rejects: [{ reason: 'no_rate' }],
    });
    expect(found.doubts.join('\n')).toContain('without a mapping amounts count as USD');
    const spelled = await inspected(csv('INR').replace('conversion_id', 'Conversion ID'), { name });
    expect(spelled.written?.['fields']).toMatchObject({ conversion_id: 'Conversion ID', currency: 'currency' });
    expect(await inspected(csv('usd'), { name })).toMatchObject({ mapping_is: 'none', rejects: [] });
  });
});

describe('a list of states', () => {
  const list = `id,click_id,status,created_at,commission
v-1,c-1,approved,2026-11-10T10:00:00Z,"1,50"
v-2,c-2,pending,2026-11-10T10:00:00Z,"2,00"
v-3,c-3,odd,2026-11-10T10:00:00Z,"1.000,00"
`;

  it('is proposed with the meanings of its words and the form of its numbers, and shown as its events', async () => {
    const found = await inspected(list, { name: 'list.csv', as: 'conversions' });
    expect(found.written).toMatchObject({
      match: 'conversions/NAME/**',
      fields: {
        status: { at: 'status', words: { approved: 'credit', pending: 'pending' } },
        payout: { at: 'commission', number: { decimal: ',', group: '.' } },
      },
    });
    expect(found.doubts).toContain('status: what does "odd" mean?');
    expect(found.rows).toMatchObject([
      { conversion_id: 'v-1', kind: 'credit', payout: '1.500000' },
      { conversion_id: 'v-2', kind: 'pending', payout: '2.000000' },
    ]);
    expect(found.rejects).toMatchObject([{ reason: 'bad_kind', line: 4 }]);
  });
});

describe('writing a mapping', () => {
  it('keeps what offerline.json says and refuses what it could not read', async () => {
    const data = await newData();
    await writeFile(data.settingsFile, '{"port": 9000}');
    const mapping = { match: 'offers/net/**', fields: { external_id: 'id', title: 'name', payout: 'rate' } };
    await writeMapping(data, mapping);
    await writeMapping(data, { ...mapping, match: 'offers/other/**' });
    const after = await readFile(data.settingsFile, 'utf8');
    expect(JSON.parse(after)).toEqual({ port: 9000, files: [mapping, { ...mapping, match: 'offers/other/**' }] });
    await expect(writeMapping(data, { match: 'elsewhere/**' })).rejects.toThrow('files[2].match');
    expect(await readFile(data.settingsFile, 'utf8')).toBe(after);
  });

  const fields = { conversion_id: 'id', click_id: 'sub', kind: { value: 'credit' }, occurred_at: 'at' };
  const foreignList = 'Transaction ID,Click ID,Conversion Time,Payout\nv-1,c-1,2026-11-18T10:00:00Z,1\n';

  it.each(['Partner (EU) [x]', '{a,b}', '!(x)', '**', '[!a]', '?(b)', 'a+(b)c', 'back\\slash', '[x'])(
    'is for the files of a folder of any name: %s',
    async (folder) => {
      const name = (each: string) => `landing/conversions/${each}/october.csv`;
      const data = await newData();
      const { written } = await inspected(foreignList, { name: name(folder) }, data);
      await writeMapping(data, { match: written?.['match'], fields });
      expect(await inspected(foreignList, { name: name(folder) }, data)).toMatchObject({ mapping_is: 'configured' });
      expect(await inspected(foreignList, { name: name('other') }, data)).toMatchObject({ mapping_is: 'proposed' });
    },
  );

  it('is for the file alone where it has no folder of its own, and for no log in our own fields', async () => {
    const data = await newData();
    const found = await inspected(foreignList, { name: 'landing/conversions/october.csv' }, data);
    expect(found.written).toMatchObject({ match: 'conversions/october.csv' });
    expect(found.doubts.join('\n')).toContain('the mapping is for this file alone');
    for (const match of ['conversions/**', 'conversions/*/**', 'conversions/tracker/**'])
      await expect(writeMapping(data, { match, fields }, 'conversions/october.csv')).rejects.toThrow(
        `nothing is written: ${match} is for conversions/tracker/, too`,
      );
    await writeFile(data.settingsFile, '{"files": [{"match": "conversions/tracker/**"}]}');
    await writeMapping(data, { match: 'conversions/**', fields });
  });

  it('changes the file that a link leads to', async () => {
    const data = await newData();
    const kept = join(data.root, 'kept.json');
    await writeFile(kept, '{"port": 9000}');
    await symlink(kept, data.settingsFile);
    const mapping = { match: 'offers/net/**', fields: { external_id: 'id', title: 'name', payout: 'rate' } };
    await writeMapping(data, mapping);
    expect(await readlink(data.settingsFile)).toBe(kept);
    expect(JSON.parse(await readFile(kept, 'utf8'))).toEqual({ port: 9000, files: [mapping] });
  });
});

describe('a small file that unpacks to more than a megabyte', () => {
  const cells = `<row><c t="inlineStr"><is><t>${'x'.repeat(1000)}</t></is></c></row>`.repeat(1100);
  const texts = `<si><t>${'x'.repeat(1000)}</t></si>`.repeat(1100);
  const workbook = (members: Record<string, string>) =>
    zipOf({
      'xl/workbook.xml': '<workbook><sheets><sheet name="a" r:id="r"/></sheets></workbook>',
      'xl/_rels/workbook.xml.rels':
        '<Relationships><Relationship Id="r" Target="worksheets/sheet1.xml"/></Relationships>',
      ...members,
    });

  it.for<[what: string, bytes: Buffer]>([
    ['gzip', gzipSync('click_id,site_key\n'.repeat(60_000))],
    ['zip', zipOf({ 'a.csv': 'click_id,site_key\n'.repeat(60_000) })],
    ['workbook', workbook({ 'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${cells}</sheetData></worksheet>` })],
    [
      'workbook of shared texts',
      workbook({ 'xl/worksheets/sheet1.xml': '<worksheet/>', 'xl/sharedStrings.xml': `<sst>${texts}</sst>` }),
    ],
  ])('%s', async ([, bytes]) => {
    const data = await newData();
    await writeFile(data.settingsFile, JSON.stringify({ unpacked_gigabytes: 0.001 }));
    expect((await inspected(bytes, {}, data)).problem?.reason).toBe('unpacked_too_large');
  });
});
