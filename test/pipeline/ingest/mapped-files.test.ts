import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import { settingsSchema, type Settings } from '../../../src/kit/config/settings.ts';
import { createLogger } from '../../../src/kit/logging/log.ts';
import { it } from '../../support/landing-test.ts';
import { LogLanding } from '../../support/log-landing.ts';
import { parquet } from '../../support/parquet.ts';
import { slow } from '../../support/slow.ts';

const settingsOf = (files: unknown[], more: object = {}): Settings => settingsSchema.parse({ files, ...more });

async function newLanding(): Promise<LogLanding> {
  const landing = await LogLanding.create();
  onTestFinished(() => landing[Symbol.asyncDispose]());
  return landing;
}

const clicks = {
  match: 'clicks/partner/**',
  rows: { at: 'Type', not: ['bot'] },
  fields: {
    click_id: 'Click ID',
    offer_id: 'Offer',
    site_key: { value: 'one' },
    user_id: 'Sub ID',
    clicked_at: { at: 'Date', time: '%d.%m.%Y %H:%M', zone: 'Europe/Berlin' },
    country: { at: 'Geo', upper: true },
  },
};
const clicksCsv = `Click ID;Offer;Sub ID;Date;Geo;Type
c-1;7;u-1;17.11.2026 11:00;de;human
c-2;7;u-2;17.11.2026 11:01;de;bot
c-3;7;;17.11.2026 11:02;at;human
c-4;7.0;u-4;yesterday;at;human
`;

describe('a file of other columns', () => {
  it('is read by its mapping; what is passed over is counted, and a reject shows the record as it lay there', async () => {
    const landing = await newLanding();
    await landing.put('clicks/partner/a.csv', clicksCsv);
    const settings = settingsOf([clicks]);
    await landing.ingest({ settings });
    expect(await landing.ledger()).toEqual(['clicks/partner/a.csv loaded 3=1+0+2']);
    expect(await landing.events('clicks', 'click_id, offer_id, user_id, clicked_at, country')).toEqual([
      { click_id: 'c-1', offer_id: 7, user_id: 'u-1', clicked_at: '2026-11-17T10:00:00Z', country: 'DE' },
    ]);
    expect(await landing.warnings()).toEqual(['clicks/partner/a.csv passed_over 1']);
    expect(await landing.query('SELECT line, reason, raw FROM rejects ORDER BY line')).toEqual([
      {
        line: 4,
        reason: 'missing_user_id',
        raw: '{"Click ID":"c-3","Offer":"7","Sub ID":null,"Date":"17.11.2026 11:02","Geo":"at","Type":"human"}',
      },
      {
        line: 5,
        reason: 'bad_clicked_at',
        raw: '{"Click ID":"c-4","Offer":"7.0","Sub ID":"u-4","Date":"yesterday","Geo":"at","Type":"human"}',
      },
    ]);
  });

  it('without a column that its mapping reads counts, with a warning for the field', async () => {
    const landing = await newLanding();
    await landing.put('clicks/partner/a.csv', clicksCsv);
    const offers = 'Id;Name;Betrag\n1;One;1,50\n';
    await landing.put('offers/net/a.csv', offers);
    const read = {
      ...clicks.fields,
      country: 'Land',
      device: { at: ['Device', 'Type'] },
      sub1: { at: 'x', value: 'y' },
    };
    const ofOffers = {
      match: 'offers/net/**',
      fields: {
        external_id: 'Id',
        title: 'Name',
        payout: { at: 'Betrag', number: { decimal: ',' } },
        currency: 'EUR',
        countries: { at: 'Land', split: ',' },
      },
    };
    const ofStates = {
      match: 'conversions/net/**',
      fields: {
        conversion_id: 'Id',
        click_id: 'Click',
        occurred_at: 'At',
        status: { at: 'State', words: { ok: 'credit' } },
        payout: { at: 'Amount', else: { at: 'Price' } },
        currency: 'EUR',
      },
    };
    await landing.put('conversions/net/a.csv', 'Id;Click;At;State;Price\nv;c-1;2026-11-17T11:00:00Z;ok;2\n');
    await landing.ingest({ settings: settingsOf([{ ...clicks, fields: read }, ofOffers, ofStates]) });
    expect(await landing.warnings()).toEqual([
      'clicks/partner/a.csv bad_device device 1',
      'clicks/partner/a.csv no_column country 1',
      'clicks/partner/a.csv passed_over 1',
      'conversions/net/a.csv no_column currency 1',
      'offers/net/a.csv no_column countries 1',
      'offers/net/a.csv no_column currency 1',
    ]);
  });

  it('without the column of its currency has no amount accepted until the mapping is put right', async () => {
    const landing = await newLanding();
    const fields = { conversion_id: 'id', click_id: 'sub', occurred_at: 'at', kind: 'kind', payout: 'sum' };
    const read = (currency: string) =>
      settingsOf([{ match: 'conversions/net/**', fields: { ...fields, currency } }], { rates: { EUR: '1.1' } });
    const rows = ['v-1,c-1,2026-11-17T11:00:00Z,credit,2,EUR', 'v-2,c-2,2026-11-17T11:00:00Z,reject,,EUR'];
    await landing.put('conversions/net/a.csv', `${['id,sub,at,kind,sum,money', ...rows].join('\n')}\n`);
    await landing.ingest({ settings: read('cur') });
    expect(await landing.rejects()).toEqual(['conversions/net/a.csv:2 no_column']);
    expect(await landing.ids('conversions')).toEqual(['v-2 reject']);
    await landing.ingest({ settings: read('money') });
    expect(await landing.rejects()).toEqual([]);
    expect(await landing.events('conversions', 'conversion_id, payout::VARCHAR AS payout')).toEqual([
      { conversion_id: 'v-1', payout: '2.200000' },
      { conversion_id: 'v-2', payout: null },
    ]);
  });

  it.for([
    { rows: { at: 'test', not: ['1'] } },
    { rows: { at: 'type', is: ['lead'] } },
    { fields: { sub1: { at: 'a', when: { at: 'type', is: 'lead' } } } },
    // Milestones in several places are read record by record.
    { rows: { at: 'test', not: ['1'] }, fields: { sub2: { at: ['a', 'b'], join: '-' } } },
  ])('without the column of a condition has its rows rejected: %j', async ({ rows, fields }) => {
    const landing = await newLanding();
    const ours = ['click_id', 'offer_id', 'site_key', 'user_id', 'clicked_at'];
    const all = { ...Object.fromEntries(ours.map((name) => [name, name])), ...fields };
    const csv = `${ours.join(',')},Is_Test,a,b\nc-1,7,one,u-1,2026-11-17T11:00:00Z,1,x,y\n`;
    await landing.put('clicks/net/a.csv', csv);
    await landing.ingest({ settings: settingsOf([{ match: 'clicks/net/**', rows, fields: all }]) });
    expect(await landing.rejects()).toEqual(['clicks/net/a.csv:2 no_column']);
    expect(await landing.warnings()).toContain(`clicks/net/a.csv no_column ${rows === undefined ? 'sub1' : 'rows'} 1`);
    const better = { match: 'clicks/net/**', rows: { at: 'Is_Test', is: ['1'] }, fields: { ...all, sub1: 'a' } };
    await landing.ingest({ settings: settingsOf([better]) });
    expect(await landing.ledger()).toEqual(['clicks/net/a.csv loaded 1=1+0+0']);
  });

  it.for(['csv', 'parquet'])('may spell the names of its columns otherwise than its mapping, as %s', async (ending) => {
    const landing = await newLanding();
    const row = {
      'click id': 'c-1',
      OFFER: '7',
      Sub_ID: 'u-1',
      date: '17.11.2026 11:00',
      Geo: 'de',
      GEO: 'at',
      type: 'bot',
    };
    const rows = [row, { ...row, 'click id': 'c-2', type: 'human' }];
    const select = (each: object) => Object.entries(each).map(([name, value]) => `'${value}' AS "${name}"`);
    const content = {
      csv: `${[Object.keys(row), ...rows.map((each) => Object.values(each))].map((cells) => cells.join(';')).join('\n')}\n`,
      parquet: await parquet(rows.map((each) => `SELECT ${select(each).join(', ')}`).join(' UNION ALL ')),
    }[ending] as string;
    await landing.put(`clicks/partner/a.${ending}`, content);
    await landing.ingest({ settings: settingsOf([clicks]) });
    expect(await landing.events('clicks', 'click_id, offer_id, user_id, clicked_at, country')).toEqual([
      { click_id: 'c-2', offer_id: 7, user_id: 'u-1', clicked_at: '2026-11-17T10:00:00Z', country: 'DE' },
    ]);
    expect(await landing.warnings()).toEqual([`clicks/partner/a.${ending} passed_over 1`]);
  });

  it('of JSON whose records have nowhere a place of its mapping counts, with a warning for the field', async () => {
    const landing = await newLanding();
    const offers = {
      match: 'offers/net/**',
      fields: {
        external_id: 'id',
        title: 'name',
        payout: 'pays',
        countries: { at: 'geo.countries', except: 'geo.denied' },
        devices: 'geo.os',
        status: { at: ['state', 'active'] },
      },
    };
    const conversions = {
      match: 'conversions/net/**',
      rows: { at: 'test', not: [1] },
      fields: {
        conversion_id: 'id',
        click_id: 'sub',
        kind: { value: 'credit' },
        occurred_at: 'at',
        payout: 'sum',
        reason: 'why',
      },
    };
    const offer = { id: 1, name: 'One', pays: '1' };
    await landing.putAt(
      'offers/net/1.json',
      JSON.stringify([{ ...offer, targeting: { os: ['ios'] } }]),
      '2026-11-01T00:00:00Z',
    );
    const row = { id: 'v-1', sub: 'c-1', at: '2026-11-17T11:00:00Z', amount: '9' };
    await landing.put('conversions/net/1.ndjson', [row, { ...row, id: 'v-2' }]);
    await landing.put('conversions/net/2.ndjson', [
      { ...row, id: 'v-3' },
      { ...row, id: 'v-4', sum: null, test: 0 },
    ]);
    await landing.put('conversions/net/3.ndjson', '\n');
    const settings = settingsOf([offers, conversions]);
    await landing.ingest({ settings });
    const found = ['countries', 'devices', 'status'].map((field) => `offers/net/1.json no_column ${field} 1`);
    expect(await landing.warnings()).toEqual([
      'conversions/net/1.ndjson no_column payout 1',
      'conversions/net/1.ndjson no_column rows 1',
      ...found,
    ]);
    const some = [
      { ...offer, geo: {} },
      { ...offer, id: 2, geo: { countries: [], os: null }, active: null },
    ];
    await landing.putAt('offers/net/2.json', JSON.stringify(some), '2026-11-02T00:00:00Z');
    await landing.ingest({ settings });
    expect((await landing.warnings()).filter((warning) => warning.startsWith('offers'))).toEqual(found);
  });

  it('names clicks without the blanks around them; other ids stay as they are', async () => {
    const landing = await newLanding();
    const fields = {
      conversion_id: 'id',
      click_id: 'sub',
      event_id: 'goal',
      occurred_at: 'at',
      kind: { value: 'credit' },
    };
    const joined = { ...fields, reason: { at: ['id', 'sub'], join: '-' } };
    const csv = 'id;sub;goal;at\nv-1 ; c-1\u00a0;lvl ;2026-11-17T11:00:00Z\nv-2;  ;;2026-11-17T11:00:00Z\n';
    await landing.put('conversions/net/a.csv', csv);
    await landing.put('conversions/other/a.csv', csv.replaceAll('v-', 'w-'));
    await landing.ingest({
      settings: settingsOf([
        { match: 'conversions/net/**', fields },
        { match: 'conversions/other/**', fields: joined },
      ]),
    });
    const read = { click_id: 'c-1', event_id: 'lvl ' };
    expect(await landing.events('conversions', 'conversion_id, click_id, event_id')).toEqual([
      { conversion_id: 'v-1 ', ...read },
      { conversion_id: 'w-1 ', ...read },
    ]);
    expect(await landing.rejects()).toEqual([
      'conversions/net/a.csv:3 missing_click_id',
      'conversions/other/a.csv:3 missing_click_id',
    ]);
  });

  it('is healed by a mapping that comes later or is changed, and nothing counts twice', async () => {
    const landing = await newLanding();
    await landing.put('clicks/partner/a.csv', clicksCsv);
    await landing.ingest({ settings: settingsOf([]) });
    expect(await landing.ledger()).toEqual(['clicks/partner/a.csv quarantined missing_column 0=0+0+0']);
    await landing.ingest({ settings: settingsOf([clicks]) });
    expect(await landing.ledger()).toEqual(['clicks/partner/a.csv loaded 3=1+0+2']);
    expect((await landing.ingest({ settings: settingsOf([clicks]) })).readAgain).toBe(0);
    const better = { ...clicks, rows: undefined, fields: { ...clicks.fields, user_id: { at: 'Sub ID', value: '-' } } };
    await landing.ingest({ settings: settingsOf([better]) });
    expect(await landing.ledger()).toEqual(['clicks/partner/a.csv loaded 4=3+0+1']);
    expect(await landing.ids('clicks')).toEqual(['c-1', 'c-2', 'c-3']);
    await landing.ingest({ settings: settingsOf([]) });
    expect(await landing.ids('clicks')).toEqual(['c-1', 'c-2', 'c-3']);
  });

  it('keeps what it was accepted for where a mapping passes over more or finds other ids', async () => {
    const landing = await newLanding();
    await landing.put('clicks/partner/a.csv', clicksCsv);
    const all = { ...clicks, rows: undefined, fields: { ...clicks.fields, user_id: { at: 'Sub ID', value: '-' } } };
    await landing.ingest({ settings: settingsOf([all]) });
    expect(await landing.ledger()).toEqual(['clicks/partner/a.csv loaded 4=3+0+1']);
    const bots = { ...all, rows: { at: 'Type', is: ['bot'] } };
    await landing.ingest({ settings: settingsOf([bots]) });
    expect(await landing.ledger()).toEqual(['clicks/partner/a.csv loaded 3=3+0+0']);
    expect(await landing.rejects()).toEqual([]);
    expect(await landing.warnings()).toEqual(['clicks/partner/a.csv passed_over 3']);
    const otherIds = { ...all, fields: { ...all.fields, click_id: 'Sub ID', user_id: 'Click ID' } };
    await landing.ingest({ settings: settingsOf([otherIds]) });
    expect(await landing.ledger()).toEqual(['clicks/partner/a.csv loaded 5=5+0+0']);
    expect(await landing.ids('clicks')).toEqual(['c-1', 'c-2', 'c-3', 'u-1', 'u-2']);
    expect(await landing.warnings()).toEqual([]);
  });

  it('has cells that say NULL, which a warning counts by field', async () => {
    const landing = await newLanding();
    const csv = 'Click ID;Offer;Sub ID;Date;Geo;Type\nc-1;7;u-1;17.11.2026 11:00;NULL;NULL\n';
    await landing.put('clicks/partner/a.csv', csv);
    await landing.put('clicks/partner/b/a.csv', csv.replace('c-1', 'c-2'));
    const sub2 = { at: ['Geo', 'Offer'], join: '-' };
    const joined = { ...clicks, match: 'clicks/partner/b/**', fields: { ...clicks.fields, sub2 } };
    await landing.ingest({ settings: settingsOf([joined, clicks]) });
    expect(await landing.warnings()).toEqual([
      'clicks/partner/a.csv null_text country 1',
      'clicks/partner/b/a.csv null_text country 1',
      'clicks/partner/b/a.csv null_text sub2 1',
    ]);
  });

  it('in our own fields has none of them twice at any depth, nor has what is kept out', async () => {
    const landing = await newLanding();
    const own = '{"external_id":"a","title":"A","payout":1,"test":0,"events":[{"event_id":"e","payout":1,"payout":9}]}';
    await landing.put('offers/own/a.ndjson', `${own}\n`);
    const denied = '{"external_id":"b","title":"B","payout":1,"in":["DE","US"],"geo":{"deny":["US"],"deny":["DE"]}}';
    await landing.put('offers/net/a.ndjson', `${denied}\n`);
    const countries = { each: 'in', at: '', except: 'geo.deny' };
    const fields = { external_id: 'external_id', title: 'title', payout: 'payout', countries };
    await landing.ingest({
      settings: settingsOf([
        { match: 'offers/own/**', rows: { at: 'test', not: [1] } },
        { match: 'offers/net/**', fields },
      ]),
    });
    expect(await landing.rejects()).toEqual([
      'offers/net/a.ndjson:1 duplicate_key',
      'offers/own/a.ndjson:1 duplicate_key',
    ]);
  });

  it('has records nested too deep to be mapped rejected, whatever names they have', async () => {
    const landing = await newLanding();
    const fields = { conversion_id: 'id', click_id: 'c', kind: { value: 'credit' }, occurred_at: 'at', payout: 'pay' };
    const line = (id: string, nested: string) =>
      `{"id":"${id}","c":"c","at":1795000000,"pay":"1","conversion_id":"own","click_id":"c","kind":"credit","occurred_at":1795000000,"payout":"9","x":${nested}}\n`;
    const deep = line('v-1', `${'['.repeat(5000)}1${']'.repeat(5000)}`);
    await landing.put('conversions/net/a.ndjson', deep + line('v-2', '[1]'));
    await landing.ingest({ settings: settingsOf([{ match: 'conversions/net/**', fields }]) });
    expect(await landing.events('conversions', 'conversion_id, payout')).toEqual([
      { conversion_id: 'v-2', payout: '1.000000' },
    ]);
    expect(await landing.rejects()).toEqual(['conversions/net/a.ndjson:1 not_json_object']);
    expect(await landing.query('SELECT raw_length FROM rejects')).toEqual([{ raw_length: deep.length - 1 }]);
  });

  it('of lines with a list in each is a record a line; an answer with a list of such records is not', async () => {
    const landing = await newLanding();
    const fields = {
      conversion_id: 'id',
      click_id: 'c',
      kind: { value: 'credit' },
      occurred_at: 'at',
      payout: 'pay.0.sum',
    };
    const line = (id: string) => JSON.stringify({ id, c: 'c', at: 1_795_000_000, pay: [{ sum: '1' }] });
    await landing.put('conversions/net/a.ndjson', `${line('v-1')}\n${line('v-2')}\n`);
    await landing.put('conversions/net/b.ndjson', `${line('v-3')}\n`);
    await landing.put('conversions/net/c.json', `{"id":"request","items":[${line('v-4')},${line('v-5')}]}\n`);
    await landing.ingest({ settings: settingsOf([{ match: 'conversions/net/**', fields }]) });
    expect(await landing.events('conversions', 'conversion_id, payout')).toEqual(
      ['v-1', 'v-2', 'v-3', 'v-4', 'v-5'].map((conversion_id) => ({ conversion_id, payout: '1.000000' })),
    );
    expect(await landing.rejects()).toEqual([]);
  });

  it('of offers is a record a line where their milestones have an id of the same name', async () => {
    const landing = await newLanding();
    const events = { each: 'goals', event_id: 'id', description: 'n', payout: 'p' };
    const fields = { external_id: 'id', title: 'n', payout: 'p', events };
    const goals = ['g1', 'g2'].map((id) => ({ id, n: 'goal', p: '1' }));
    const offer = (id: string) => JSON.stringify({ id, n: 'offer', p: '2', goals });
    await landing.put('offers/lines/a.ndjson', `${offer('o1')}\n${offer('o2')}\n`);
    await landing.put('offers/answer/a.json', `{"id":"request","goals":[${offer('o3')}]}\n`);
    await landing.ingest({ settings: settingsOf([{ match: 'offers/**', fields }]) });
    expect(await landing.query('SELECT external_id FROM offers ORDER BY external_id')).toEqual(
      ['o1', 'o2', 'o3'].map((external_id) => ({ external_id })),
    );
  });

  it('in our own fields has an unknown column named currency, and no field twice', async () => {
    const landing = await newLanding();
    const credit = { click_id: 'c', kind: 'credit', occurred_at: '2026-11-17T10:00:00Z' };
    const amounts = { payout: '10', currency: 'EUR', test: 0 };
    const twice = JSON.stringify({ conversion_id: 'v-2', ...credit, ...amounts }).replace('"10"', '"1","payout":"10"');
    const once = JSON.stringify({ conversion_id: 'v-1', ...credit, ...amounts });
    await landing.put('conversions/own/a.ndjson', `${once}\n${twice}\n`);
    const named = {
      conversion_id: 'id',
      click_id: 'c',
      kind: { value: 'credit' },
      occurred_at: 'at',
      payout: 'pay.sum',
    };
    await landing.put(
      'conversions/net/b.ndjson',
      [
        '{"id":"v-3","c":"c","at":1795000000,"pay":{"sum":"1","sum":"100"}}',
        '{"id":"v-4","c":"c","at":1795000000,"pay":{},"pay":{"sum":"1"}}',
        '{"id":"v-5","c":"c","at":1795000000,"pay":{"sum":"1"},"meta":[{"a":1,"a":2}],"sum":{"sum":"1","sum":"2"}}',
        '{"id":"v-6","c":"c","at":1795000000,"pay":{"sum":"1","1":{"x":1,"x":2}},"meta":[]}',
      ].join('\n') + '\n',
    );
    await landing.ingest({
      settings: settingsOf(
        [
          { match: 'conversions/own/**', rows: { at: 'test', not: [1] } },
          { match: 'conversions/net/**', fields: named },
        ],
        { rates: { EUR: '1.1' } },
      ),
    });
    expect(await landing.events('conversions', 'conversion_id, payout')).toEqual([
      { conversion_id: 'v-1', payout: '10.000000' },
      { conversion_id: 'v-5', payout: '1.000000' },
    ]);
    expect(await landing.rejects()).toEqual([
      'conversions/net/b.ndjson:1 duplicate_key',
      'conversions/net/b.ndjson:2 duplicate_key',
      'conversions/net/b.ndjson:4 duplicate_key',
      'conversions/own/a.ndjson:2 duplicate_key',
    ]);
    expect(await landing.warnings()).toEqual([
      'conversions/own/a.ndjson unknown_field currency 1',
      'conversions/own/a.ndjson unknown_field test 1',
    ]);
  });

  it('is healed by another mapping also where one found no row', async () => {
    const landing = await newLanding();
    const credits = { conversion_id: 'id', click_id: 'c', kind: { value: 'credit' }, occurred_at: 'at' };
    const at = (records: string) => settingsOf([{ match: 'conversions/**', format: { records }, fields: credits }]);
    const record = '<a><id>v-1</id><c>c</c><at>2026-11-17T10:00:00Z</at></a>';
    await landing.put('conversions/a.xml', `<all><none/><list>${record}</list></all>`);
    await landing.ingest({ settings: at('all.none.a') });
    expect(await landing.ledger()).toEqual(['conversions/a.xml loaded 0=0+0+0']);
    await landing.ingest({ settings: at('all.lists.a') });
    expect(await landing.ledger()).toEqual(['conversions/a.xml loaded 0=0+0+0']);
    expect((await landing.ingest({ settings: at('all.list.a') })).readAgain).toBe(1);
    expect(await landing.ledger()).toEqual(['conversions/a.xml loaded 1=1+0+0']);
  });

  it('may be a catalog, read anew when its mapping says something else', async () => {
    const landing = await newLanding();
    const mapping = {
      match: 'offers/net/**',
      format: { records: 'data.items' },
      fields: { external_id: 'id', title: 'name', payout: { at: 'rate.cents', number: { scale: 2 } } },
    };
    await landing.put(
      'offers/net/list.json',
      JSON.stringify({ data: { items: [{ id: 5, name: 'Five', rate: { cents: 125 } }] }, other: [] }),
    );
    await landing.ingest({ settings: settingsOf([mapping]) });
    const offers =
      'SELECT external_id, payout::VARCHAR AS payout FROM offer_versions JOIN offers USING (offer_id) ORDER BY version';
    expect(await landing.query(offers)).toEqual([{ external_id: '5', payout: '1.250000' }]);
    const dearer = { ...mapping, fields: { ...mapping.fields, payout: { at: 'rate.cents', number: { scale: 1 } } } };
    await landing.ingest({ settings: settingsOf([dearer]), asOf: '2026-11-19T12:00:00Z' });
    expect(await landing.query(offers)).toEqual([
      { external_id: '5', payout: '1.250000' },
      { external_id: '5', payout: '12.500000' },
    ]);
  });
});

describe('a list of how conversions stand', () => {
  const states = {
    match: 'conversions/net/**',
    fields: {
      conversion_id: 'id',
      click_id: 'sub',
      status: { at: 'state', words: { open: 'pending', paid: 'credit', declined: 'reject' } },
      occurred_at: { at: 'at', zone: 'UTC' },
      changed_at: { at: 'changed', zone: 'UTC' },
      payout: 'sum',
      currency: 'cur',
    },
  };
  const list = (...rows: string[]) => `id,sub,state,at,changed,sum,cur\n${rows.join('\n')}\n`;
  const week1 = list(
    'v-1,c-1,paid,2026-11-10 10:00:00,2026-11-10 10:00:00,1.5,EUR',
    'v-2,c-2,open,2026-11-10 11:00:00,2026-11-10 11:00:00,2,USD',
    'v-3,c-3,paid,2026-11-10 12:00:00,2026-11-10 12:00:00,9,GBP',
    'v-4,c-4,odd,2026-11-10 12:00:00,2026-11-10 12:00:00,9,USD',
  );
  const week2 = list(
    'v-1,c-1,paid,2026-11-10 10:00:00,2026-11-12 10:00:00,2,EUR',
    'v-2,c-2,paid,2026-11-10 11:00:00,2026-11-12 11:00:00,2,USD',
    'v-3,c-3,declined,2026-11-10 12:00:00,2026-11-12 12:00:00,9,USD',
  );
  const settings = settingsOf([states], { rates: { EUR: '1.1' } });
  const told = async (landing: LogLanding) =>
    (await landing.events<Record<string, string>>('conversions', 'conversion_id, kind, occurred_at, payout')).map(
      ({ conversion_id, kind, occurred_at, payout }) => `${conversion_id} ${kind} ${occurred_at} ${payout ?? '-'}`,
    );
  const inTheEnd = [
    'v-1 chargeback 2026-11-12T10:00:00Z -',
    'v-1 credit 2026-11-10T10:00:00Z 1.650000',
    'v-1~2 credit 2026-11-10T10:00:00Z 2.200000',
    'v-2 credit 2026-11-10T11:00:00Z 2.000000',
    'v-2 pending 2026-11-10T11:00:00Z 2.000000',
    'v-3 reject 2026-11-12T12:00:00Z 9.000000',
  ];

  it('becomes the events that lead there, by what was told before', slow, async () => {
    const landing = await newLanding();
    await landing.putAt('conversions/net/1.csv', week1, '2026-11-11T00:00:00Z');
    await landing.ingest({ settings });
    expect(await told(landing)).toEqual([
      'v-1 credit 2026-11-10T10:00:00Z 1.650000',
      'v-2 pending 2026-11-10T11:00:00Z 2.000000',
    ]);
    expect(await landing.ledger()).toEqual(['conversions/net/1.csv loaded 4=2+0+2']);
    expect(await landing.warnings()).toEqual([]);
    expect(await landing.rejects()).toEqual(['conversions/net/1.csv:4 no_rate', 'conversions/net/1.csv:5 bad_kind']);
    await landing.putAt('conversions/net/2.csv', week2, '2026-11-13T00:00:00Z');
    await landing.ingest({ settings });
    expect(await told(landing)).toEqual(inTheEnd);
    expect(await landing.ledger()).toEqual([
      'conversions/net/1.csv loaded 4=2+0+2',
      'conversions/net/2.csv loaded 4=4+0+0',
    ]);
    await landing.putAt('conversions/net/3.csv', `${week2}\n`, '2026-11-14T00:00:00Z');
    await landing.ingest({ settings });
    expect(await told(landing)).toEqual(inTheEnd);
    expect((await landing.ledger()).at(-1)).toBe('conversions/net/3.csv loaded 3=0+3+0');
  });

  it('has rejected rows of any length, each under its line', async () => {
    const landing = await newLanding();
    const [id, at] = ['v-5', '2026-11-10 10:00:00'];
    const rows = ['x'.repeat(100_000), 'short', 'y'.repeat(40_000)].map((odd, index) => ({ id, at, odd, sub: index }));
    const good = { id, at, sub: 'c-5', state: 'declined', changed: at };
    await landing.put('conversions/net/1.ndjson', [...rows, good].map((row) => JSON.stringify(row)).join('\n') + '\n');
    await landing.ingest({ settings });
    expect(await landing.ledger()).toEqual(['conversions/net/1.ndjson loaded 4=1+0+3']);
    expect(await landing.rejects()).toEqual([1, 2, 3].map((line) => `conversions/net/1.ndjson:${line} missing_kind`));
    expect(await told(landing)).toEqual(['v-5 reject 2026-11-10T10:00:00Z -']);
  });

  it('is not that of another network with the same ids', async () => {
    const landing = await newLanding();
    await landing.putAt('conversions/net/1.csv', week1, '2026-11-11T00:00:00Z');
    await landing.ingest({ settings });
    const before = await told(landing);
    await landing.putAt('conversions/net/other.csv', week2.replaceAll(',c-', ',d-'), '2026-11-13T00:00:00Z');
    await landing.ingest({ settings });
    expect(await told(landing)).toEqual([...before, 'v-3 reject 2026-11-12T12:00:00Z 9.000000']);
    expect(await landing.query('SELECT duplicates, conflicts FROM ingest_files ORDER BY file_id')).toEqual([
      { duplicates: 0, conflicts: 0 },
      { duplicates: 2, conflicts: 2 },
    ]);
  });

  it('with one id for two milestones credits the first, list after list', slow, async () => {
    const landing = await newLanding();
    const withGoals = settingsOf([{ ...states, fields: { ...states.fields, event_id: 'goal' } }]);
    const rows = `id,sub,state,at,changed,sum,cur,goal
v-1,c-1,paid,2026-11-10 10:00:00,,0.5,USD,install
v-1,c-1,paid,2026-11-10 11:00:00,,4,USD,level20
`;
    const warned: object[] = [];
    const logger = createLogger({ write: (line: string) => warned.push(JSON.parse(line) as object) > 0 }, 'warn');
    for (const day of [11, 12]) {
      const later = `v-${day},c-2,paid,2026-11-10 12:00:00,,1,USD,install\n`;
      await landing.putAt(`conversions/net/${day}.csv`, rows + later, `2026-11-${day}T12:00:00Z`);
      await landing.ingest({ settings: withGoals, logger });
    }
    expect(await told(landing)).toEqual([
      'v-1 credit 2026-11-10T10:00:00Z 0.500000',
      ...[11, 12].map((day) => `v-${day} credit 2026-11-10T12:00:00Z 1.000000`),
    ]);
    expect(await landing.query('SELECT duplicates, conflicts FROM ingest_files ORDER BY file_id')).toEqual([
      { duplicates: 1, conflicts: 1 },
      { duplicates: 2, conflicts: 1 },
    ]);
    expect(warned).toMatchObject([
      { file: 'conversions/net/11.csv', rows: 1, msg: expect.stringContaining('to conversion_id by "join"') as string },
      { file: 'conversions/net/12.csv', rows: 1 },
    ]);
    // A state of before the milestone was kept: it takes that of the next row.
    await landing.query('UPDATE conversion_states SET events = NULL, occurred_at = NULL');
    await landing.putAt('conversions/net/13.csv', rows, '2026-11-13T12:00:00Z');
    await landing.ingest({ settings: withGoals });
    expect((await told(landing)).length).toBe(3);
    expect(
      await landing.query("SELECT events, occurred_at FROM conversion_states WHERE conversion_id = 'v-1'"),
    ).toEqual([{ events: '["install"]', occurred_at: '2026-11-10T10:00:00Z' }]);
  });

  it('says the same when all is read at once', async () => {
    const landing = await newLanding();
    await landing.putAt('conversions/net/b.csv', week1, '2026-11-11T00:00:00Z');
    await landing.putAt('conversions/net/a.csv', week2, '2026-11-13T00:00:00Z');
    await landing.ingest({ settings });
    expect(await told(landing)).toEqual(inTheEnd);
  });

  it('is healed by another mapping, and tells nothing twice', slow, async () => {
    const landing = await newLanding();
    await landing.putAt('conversions/net/1.csv', week1, '2026-11-11T00:00:00Z');
    await landing.ingest({ settings });
    const words = { ...states.fields.status.words, odd: 'credit' };
    const better = { ...states, fields: { ...states.fields, status: { at: 'state', words } } };
    await landing.ingest({ settings: settingsOf([better], { rates: { EUR: '1.1', GBP: '1.3' } }) });
    expect(await told(landing)).toEqual([
      'v-1 credit 2026-11-10T10:00:00Z 1.650000',
      'v-2 pending 2026-11-10T11:00:00Z 2.000000',
      'v-3 credit 2026-11-10T12:00:00Z 11.700000',
      'v-4 credit 2026-11-10T12:00:00Z 9.000000',
    ]);
    expect(await landing.ledger()).toEqual(['conversions/net/1.csv loaded 4=4+0+0']);
    expect(await landing.rejects()).toEqual([]);
  });

  it.for(['csv', 'ndjson', 'parquet'])('is healed once it lies where its mapping is for it, as %s', async (ending) => {
    const landing = await newLanding();
    const row = { id: 'v-1', sub: 'c-1', state: 'paid', at: '2026-11-10 10:00:00', sum: '1.5', cur: 'USD' };
    const select = Object.entries(row).map(([name, value]) => `'${value}' AS ${name}`);
    const content = {
      csv: `${Object.keys(row).join(',')}\n${`${Object.values(row).join(',')}\n`.repeat(2)}`,
      ndjson: `${JSON.stringify(row)}\n`.repeat(2),
      parquet: await parquet(`SELECT ${select.join(', ')} FROM range(2)`),
    }[ending] as string;
    const path = await landing.put(`conversions/export.${ending}`, content);
    await landing.ingest({ settings });
    const before = ending === 'ndjson' ? 'loaded 2=0+0+2' : 'quarantined missing_column 0=0+0+0';
    expect(await landing.ledger()).toEqual([`conversions/export.${ending} ${before}`]);
    await mkdir(join(landing.data.landing, 'conversions/net'));
    await rename(path, join(landing.data.landing, `conversions/net/moved.${ending}`));
    expect(await landing.ingest({ settings })).toMatchObject({ files: 0, readAgain: 1 });
    expect(await landing.ledger()).toEqual([`conversions/export.${ending} loaded 2=1+1+0`]);
    expect(await told(landing)).toEqual(['v-1 credit 2026-11-10T10:00:00Z 1.500000']);
    expect(await landing.ingest({ settings })).toMatchObject({ files: 0, readAgain: 0 });
  });

  it('as Parquet is another file in the folder of another state, and each is healed by its own', async () => {
    const landing = await newLanding();
    const row = `SELECT 'v-1' AS id, 'c-1' AS sub, '2026-11-10 10:00:00' AS at, '1.5' AS sum, 'USD' AS cur`;
    const bytes = await parquet(row);
    const words = { open: 'pending' };
    const read = (known: Record<string, string>) =>
      settingsOf([{ ...states, fields: { ...states.fields, status: { at: 'state', words: known } } }]);
    await landing.put('conversions/net/state=open/data_0.parquet', bytes);
    await landing.ingest({ settings: read(words) });
    await landing.put('conversions/net/state=paid/data_0.parquet', bytes);
    await landing.put('conversions/net/year=2026/state=paid/copy.parquet', bytes);
    expect(await landing.ingest({ settings: read(words) })).toMatchObject({ files: 1 });
    // The copy says the same, unlike the same bytes as of another state.
    await rm(join(landing.data.landing, 'conversions/net/state=paid'), { recursive: true });
    const later = { settings: read({ ...words, paid: 'credit' }) };
    expect(await landing.ingest(later)).toMatchObject({ files: 0, readAgain: 1 });
    expect(await landing.rejects()).toEqual([]);
    expect(await landing.query(`SELECT path, accepted FROM ingest_files ORDER BY file_id`)).toEqual([
      { path: 'conversions/net/state=open/data_0.parquet', accepted: 1 },
      { path: 'conversions/net/state=paid/data_0.parquet', accepted: 1 },
    ]);
    expect((await told(landing)).map((event) => event.split(' ').slice(0, 2).join(' '))).toEqual([
      'v-1 credit',
      'v-1 pending',
    ]);
  });

  it('that cannot be read is read once it is copied to where its mapping is for it', async () => {
    const landing = await newLanding();
    const path = await landing.put('conversions/export.csv', week1);
    await landing.ingest({ settings });
    await landing.put('conversions/net/copy.csv', week1);
    expect(await landing.ingest({ settings })).toMatchObject({ files: 1, readAgain: 0 });
    const both = [
      'conversions/export.csv quarantined missing_column 0=0+0+0',
      'conversions/net/copy.csv loaded 4=2+0+2',
    ];
    expect(await landing.ledger()).toEqual(both);
    expect(await landing.ingest({ settings })).toMatchObject({ files: 0, readAgain: 0 });
    await rm(path);
    expect(await landing.ingest({ settings })).toMatchObject({ files: 0, readAgain: 0 });
    expect(await landing.ledger()).toEqual(both);
  });

  it('is healed without what a later list has replaced, where rows have no version', async () => {
    const { changed_at: _, ...fields } = states.fields;
    const unversioned = { ...states, fields };
    const rates = { EUR: '1.1', GBP: '1.3' };
    const landing = await newLanding();
    await landing.putAt('conversions/net/1.csv', week1, '2026-11-11T00:00:00Z');
    await landing.putAt('conversions/net/2.csv', week2, '2026-11-13T00:00:00Z');
    await landing.ingest({ settings: settingsOf([unversioned], { rates: { EUR: '1.1' } }) });
    const before = await told(landing);
    const words = { ...states.fields.status.words, odd: 'credit' };
    const better = { ...unversioned, fields: { ...fields, status: { at: 'state', words } } };
    await landing.ingest({ settings: settingsOf([better], { rates: { ...rates, EUR: '1.2' } }) });
    expect(await told(landing)).toEqual([...before, 'v-4 credit 2026-11-10T12:00:00Z 9.000000']);
  });
});
