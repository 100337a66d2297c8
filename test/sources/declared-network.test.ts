import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkSources } from '../../pipelines/check-sources.ts';
import { pullSources } from '../../pipelines/pull.ts';
import { readOutcome } from '../../src/pipeline/runs/pipeline-outcomes.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { readSources } from '../../src/sources/config/sources-file.ts';
import { openPullDatabase } from '../../src/sources/pull-database.ts';
import { dataWith, exported, serve, terminal } from '../support/declared-network.ts';

describe('a network that sources.json declares', () => {
  it('is pulled by pages of JSON', async () => {
    const url = await serve(({ searchParams }, { 'x-key': key }) => {
      const page = Number(searchParams.get('p'));
      const items = [1, 2, 3].slice((page - 1) * 2, page * 2);
      return JSON.stringify({
        ok: key === 'secret' ? 'yes' : 'no',
        result: { all: 3, items: items.map((id) => ({ id, info: { name: `Offer ${id}` }, usd: 1.1, geo: 'DE, AT' })) },
      });
    });
    const data = await dataWith({
      source: 'mine',
      connector: 'http',
      base_url: url,
      secrets: { key: 'secret' },
      offers: {
        path: '/list',
        query: { p: '{page}', n: '{size}' },
        headers: { 'X-Key': '{key}' },
        records: 'result.items',
        paging: { kind: 'page', size: 2, total: 'result.all' },
        success: [{ at: 'ok', is: ['yes'] }],
        fields: {
          external_id: 'id',
          title: 'info.name',
          payout: 'usd',
          countries: 'geo',
          tracking_type: { value: 'CPA' },
        },
      },
    });
    expect(await checkSources({ data, terminal })).toMatchObject([{ total: 3, records: 2, error: null }]);
    expect(await pullSources({ data, terminal })).toMatchObject([{ status: 'done', pages: 2, records: 3 }]);
    expect(await exported(data, 'mine')).toEqual(
      [1, 2, 3].map((id) => ({
        external_id: id,
        title: `Offer ${id}`,
        payout: 1.1,
        currency: 'USD',
        countries: ['DE', 'AT'],
        tracking_type: 'CPA',
      })),
    );
  });

  it('has the same offers however their ids are written', async () => {
    const url = await serve(() => '[{"id":101.0},{"id":1e2},{"id":"102 "},{"id":5.5}]');
    const data = await dataWith({
      source: 'mine',
      connector: 'http',
      base_url: url,
      offers: { fields: { external_id: 'id' } },
    });
    await pullSources({ data, terminal });
    const folder = join(data.landing, 'offers', 'mine');
    const [file = ''] = await readdir(folder);
    const ids = (await readFile(join(folder, file), 'utf8')).matchAll(/"external_id":([^,]*)/g);
    expect(Array.from(ids, ([, id]) => id)).toEqual(['100', '101', '"102"', '5.5']);
  });

  it.each(['{{key}}', '${key}', '[key]', '%key%', '%7Bkey%7D', '#key#'])(
    'with %s in a text has an error with the right form, before anything is sent',
    async (written) => {
      const url = await serve(() => '[{"id": 1}]');
      const offers = { headers: { 'X-Key': written }, path: '/list', fields: { external_id: 'id' } };
      const data = await dataWith({
        source: 'mine',
        connector: 'http',
        base_url: url,
        secrets: { key: 'secret' },
        offers,
      });
      const [checked] = await checkSources({ data, terminal });
      expect(checked?.error).toContain(`has ${written}: write {key}`);
      expect(checked?.error).not.toContain('secret"');
    },
  );

  it('is pulled as CSV', async () => {
    const url = await serve(() => 'ID;Name;Pay\n7;"A; B";2,50\n');
    const fields = { external_id: 'ID', title: 'Name', payout: 'Pay' };
    const data = await dataWith({ source: 'csv', connector: 'http', base_url: url, offers: { format: 'csv', fields } });
    expect(await pullSources({ data, terminal })).toMatchObject([{ status: 'done', records: 1 }]);
    expect(await exported(data, 'csv')).toEqual([{ external_id: '7', title: 'A; B', payout: '2,50', currency: 'USD' }]);
  });

  it('is pulled as CSV by tabs, and as XML', async () => {
    const url = await serve(({ pathname }) =>
      pathname === '/tsv'
        ? 'ID\tName\tPay\r\n7\tA, B\t2.50\r\n8\tC'
        : '<?xml version="1.0"?><list><offer id="7"><name>A &amp; B</name><pay>2.50</pay></offer><total>1</total></list>',
    );
    const data = await dataWith(
      {
        source: 'tsv',
        connector: 'http',
        base_url: url,
        offers: { path: '/tsv', format: 'csv', fields: { external_id: 'ID', title: 'Name', payout: 'Pay' } },
      },
      {
        source: 'xml',
        connector: 'http',
        base_url: url,
        offers: {
          path: '/xml',
          format: 'xml',
          records: 'list.offer',
          fields: { external_id: '@id', title: 'name', payout: 'pay' },
        },
      },
    );
    expect(await pullSources({ data, terminal })).toMatchObject([
      { status: 'done', records: 2 },
      { status: 'done', records: 1 },
    ]);
    expect(await exported(data, 'tsv')).toEqual([
      { external_id: '7', title: 'A, B', payout: '2.50', currency: 'USD' },
      { external_id: '8', title: 'C', currency: 'USD' },
    ]);
    expect(await exported(data, 'xml')).toEqual([
      { external_id: '7', title: 'A & B', payout: '2.50', currency: 'USD' },
    ]);
  });

  describe('answers in another encoding', () => {
    const list = 'ID;Name\n7;Café\n';
    const json = '[{"ID": "7", "Name": "Café"}]';
    const offered = async (type: string, body: Buffer, format: unknown) => {
      const server = createServer((_, response) => response.writeHead(200, { 'content-type': type }).end(body));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => server.close().closeAllConnections());
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const offers = { format, fields: { external_id: 'ID', title: 'Name' } };
      const data = await dataWith({ source: 'one', connector: 'http', base_url: url, offers });
      const [pulled] = await pullSources({ data, terminal });
      return pulled?.status === 'done' ? exported(data, 'one') : pulled?.error;
    };
    const read = [{ external_id: '7', title: 'Café', currency: 'USD' }];

    it.each<[why: string, type: string, body: Buffer, format: unknown]>([
      ['by its charset', 'text/csv; charset=ISO-8859-1', Buffer.from(list, 'latin1'), 'csv'],
      ['of JSON by its charset', 'application/json;charset="windows-1252"', Buffer.from(json, 'latin1'), 'json'],
      ['by its byte order mark', 'text/csv', Buffer.from(`\ufeff${list}`, 'utf16le'), 'csv'],
      ['that is UTF-8, whatever the server says', 'text/csv; charset=ISO-8859-1', Buffer.from(list), 'csv'],
      ['UTF-16, which may look like UTF-8', 'text/csv; charset=utf-16le', Buffer.from(list, 'utf16le'), 'csv'],
      ['as the source declares', 'text/csv', Buffer.from(list, 'latin1'), { type: 'csv', encoding: 'windows-1252' }],
    ])('are read: %s', async (_, type, body, format) => {
      expect(await offered(type, body, format)).toEqual(read);
    });

    it.each<[why: string, type: string, body: Buffer, format: unknown, error: string]>([
      ['no charset', 'text/csv', Buffer.from(list, 'latin1'), 'csv', 'is not valid UTF-8 and names no other charset'],
      ['no charset, of JSON', 'application/json', Buffer.from(json, 'latin1'), 'json', 'is not valid UTF-8'],
      ['an unknown charset', 'text/csv; charset=x-none', Buffer.from(list, 'latin1'), 'csv', 'named "x-none"'],
      [
        'a wrong one',
        'text/csv; charset=shift_jis',
        Buffer.from([0x49, 0x44, 0x0a, 0xff, 0x0a]),
        'csv',
        'not valid shift_jis',
      ],
      ['no table', 'text/csv', Buffer.from('<html><p>busy</p></html>'), 'csv', 'the answer is xml, and no csv'],
      ['an error of JSON', 'text/csv', Buffer.from('{"error": "busy"}'), 'csv', 'and no csv'],
      ['a cell too many', 'text/csv', Buffer.from('ID;Name\n7;A;B\n'), 'csv', 'line 2 of the answer has more cells'],
      ['an open quote', 'text/csv', Buffer.from('ID;Name\n7;"A\n'), 'csv', 'a quote is opened and never closed'],
    ])('fail the pull with %s', async (_, type, body, format, error) => {
      expect(await offered(type, body, format)).toContain(error);
    });
  });

  it('keeps the digits of ids and money', async () => {
    const url = await serve(() => '[{"id": 12345678901234567890, "pay": 0.30, "name": "x"}]');
    const fields = { external_id: 'id', title: 'name', payout: 'pay' };
    const data = await dataWith({ source: 'exact', connector: 'http', base_url: url, offers: { fields } });
    await pullSources({ data, terminal });
    const [file = ''] = await readdir(join(data.landing, 'offers', 'exact'));
    expect(await readFile(join(data.landing, 'offers', 'exact', file), 'utf8')).toBe(
      '{"external_id":12345678901234567890,"title":"x","currency":"USD","payout":0.30}\n',
    );
  });

  it('is read by the rules of a mapping, beside places and constants as they stand', async () => {
    const geo = [{ code: 'DE' }, { code: 'AT' }];
    const items = [
      {
        id: 1,
        kind: 'cpa',
        name: 'A &amp; B',
        cents: 250,
        geo,
        not: ['AT'],
        tags: 'a, b|c',
        goals: [{ n: 'g', c: 120 }],
      },
      { id: 2, kind: 'cpa', name: ' ', cents: 'soon', geo: [], not: [], tags: [], goals: [] },
      { id: 3, kind: 'cpa', name: 'C', cents: 100, geo, not: ['AT', 'DE'], tags: ['x, y', 1], goals: [] },
      { id: 4, kind: 'cpc', name: 'D', cents: 100, geo, not: [], tags: null, goals: [] },
    ];
    const cents = (at: string) => ({ at, number: { scale: 2 } });
    const offers = {
      rows: { at: 'kind', is: 'cpa' },
      fields: {
        external_id: 'id',
        title: { at: 'name', text: 'html' },
        description: 'name',
        payout: cents('cents'),
        countries: { each: 'geo', at: 'code', except: { at: 'not' } },
        categories: 'tags',
        formats: { value: 'wall,popup' },
        tracking_type: { value: 'CPA' },
        events: { each: 'goals', event_id: 'n', payout: cents('c') },
      },
    };
    const url = await serve(() => JSON.stringify(items));
    const data = await dataWith({ source: 'rich', connector: 'http', base_url: url, offers });
    expect(await pullSources({ data, terminal })).toMatchObject([
      { status: 'done', records: 4, left_out: { passed_over: 1 } },
    ]);
    const always = { currency: 'USD', formats: ['wall', 'popup'], tracking_type: 'CPA' };
    expect(await exported(data, 'rich')).toEqual([
      {
        external_id: 1,
        title: 'A & B',
        description: 'A &amp; B',
        payout: '2.5',
        categories: ['a', 'b', 'c'],
        countries: ['DE'],
        events: [{ event_id: 'g', payout: '1.2' }],
        ...always,
      },
      { external_id: 2, description: ' ', payout: { unread: 'soon' }, categories: [], ...always },
      // Nothing is left of its countries.
      {
        external_id: 3,
        title: 'C',
        description: 'C',
        payout: '1',
        status: 'paused',
        categories: ['x, y', '1'],
        ...always,
      },
    ]);
  });

  it('may have milestones that are ours already, and constants as landing takes them', async () => {
    const url = await serve(() => '[{"id": 1, "goals": [{"event_id": "a", "payout": 1.50}]}]');
    const fields = { external_id: 'id', title: { value: '' }, status: { value: 'Active' }, events: 'goals' };
    const data = await dataWith({ source: 'plain', connector: 'http', base_url: url, offers: { fields } });
    await pullSources({ data, terminal });
    expect(await exported(data, 'plain')).toEqual([
      { external_id: 1, currency: 'USD', status: 'Active', events: [{ event_id: 'a', payout: 1.5 }] },
    ]);
  });

  it('delays no other where it never answers, and ends when it is asked to', async () => {
    const stalled = createServer(() => undefined);
    await new Promise<void>((resolve) => stalled.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => stalled.close().closeAllConnections());
    const stalledUrl = `http://127.0.0.1:${(stalled.address() as AddressInfo).port}`;
    const goodUrl = await serve(() => '[{"id": 1}]');
    const offers = { fields: { external_id: 'id' } };
    const data = await dataWith(
      { source: 'stalled', connector: 'http', base_url: stalledUrl, offers },
      { source: 'good', connector: 'http', base_url: goodUrl, offers },
    );
    const stop = new AbortController();
    // Once the good one has been pulled, the other still waits.
    const write = (line: string) => {
      if (line.includes('"msg":"pulled"')) stop.abort();
      return true;
    };
    const watched = { ...terminal, logger: createLogger({ write }) };
    expect(await pullSources({ data, terminal: watched, stop: stop.signal })).toMatchObject([
      { source: 'stalled', status: 'interrupted', file: null },
      { source: 'good', status: 'done', records: 1 },
    ]);
    expect(readOutcome(data, 'pull')).toMatchObject({ outcome: 'stopped', last_good_at: null });
  });

  it('delays no other where it fails', async () => {
    const url = await serve(({ pathname }) => (pathname === '/good' ? '[{"id": 1}]' : '[]'));
    const offers = (path: string) => ({ path, fields: { external_id: 'id' } });
    const data = await dataWith(
      { source: 'bad', connector: 'http', base_url: url, offers: offers('/bad') },
      { source: 'good', connector: 'http', base_url: url, offers: offers('/good') },
    );
    expect(await pullSources({ data, terminal })).toMatchObject([
      {
        source: 'bad',
        status: 'failed',
        error: expect.stringContaining('the source returned an empty list') as string,
      },
      { source: 'good', status: 'done' },
    ]);
  });

  it('delays no other where its end cannot be recorded', async () => {
    const logged: string[] = [];
    const { promise: unrecorded, resolve } = Promise.withResolvers<void>();
    const write = (line: string) => {
      if (logged.push(line) > 0 && line.includes('cannot be recorded')) resolve();
      return true;
    };
    const url = await serve(async ({ pathname }) => {
      if (pathname === '/good') await unrecorded;
      return '[{"id": 1}]';
    });
    const offers = (path: string) => ({ path, fields: { external_id: 'id' } });
    const data = await dataWith(
      { source: 'bad', connector: 'http', base_url: url, offers: offers('/bad') },
      { source: 'good', connector: 'http', base_url: url, offers: offers('/good') },
    );
    using ledger = openPullDatabase(data);
    ledger.exec(
      `CREATE TRIGGER full BEFORE UPDATE OF finished_at ON pulls WHEN NEW.source = 'bad' BEGIN SELECT RAISE(ABORT, 'disk full'); END`,
    );
    expect(await pullSources({ data, terminal: { ...terminal, logger: createLogger({ write }) } })).toMatchObject([
      { source: 'bad', status: 'failed', error: expect.stringContaining('disk full') as string },
      { source: 'good', status: 'done' },
    ]);
    ledger.exec('DROP TRIGGER full');
    // It holds the source no longer.
    expect(await pullSources({ data, terminal, names: ['bad'] })).toMatchObject([{ source: 'bad', status: 'done' }]);
  });
});

it.for<[string, object, string]>([
  ['a connector that there is not', { source: 'a', connector: 'nope' }, 'connector'],
  ['a network without its address', { source: 'a', connector: 'tune', secrets: { api_key: 'k3y-secret' } }, 'base_url'],
  ['a network without its key', { source: 'a', connector: 'everflow' }, 'api_key'],
  [
    'an address with a password',
    { source: 'a', connector: 'http', base_url: 'https://u:k3y-secret@x.example' },
    'secrets',
  ],
  [
    'a declaration without an id',
    { source: 'a', connector: 'http', base_url: 'https://x.example', offers: { fields: {} } },
    'external_id',
  ],
  [
    'a field that there is not',
    {
      source: 'a',
      connector: 'http',
      base_url: 'https://x.example',
      offers: { fields: { external_id: 'i', cost: 'c' } },
    },
    '"cost": no field of ours',
  ],
  [
    'a rule that there is not',
    {
      source: 'a',
      connector: 'http',
      base_url: 'https://x.example',
      offers: { fields: { external_id: 'i', payout: { at: 'p', number: { decimal: ';' } } } },
    },
    'sources[0].offers.fields.payout.number.decimal',
  ],
  [
    'links that are asked for by nothing',
    {
      source: 'a',
      connector: 'http',
      base_url: 'https://x.example',
      offers: { fields: { external_id: 'i' }, links: { of: 'c', at: 'link', path: '/link' } },
    },
    'sources[0].offers.links ask for the same link each time',
  ],
  [
    'a token of links that names no secret',
    {
      source: 'a',
      connector: 'http',
      base_url: 'https://x.example',
      offers: {
        fields: { external_id: 'i' },
        links: { of: 'c', at: 'link', path: '/{campaign}', token: { path: '/t', at: 'a', basic: ['nobody'] } },
      },
    },
    'sources[0].offers.links.token.basic names "nobody"',
  ],
  ['a name that leads elsewhere', { source: '../a' }, 'source'],
])('sources.json with %s is refused, with the place and no secret', async ([, source, place]) => {
  const data = await dataWith(source);
  const refused = (): string => {
    try {
      readSources(data);
      return 'accepted';
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(refused()).toContain(place);
  expect(refused()).not.toContain('k3y-secret');
});
