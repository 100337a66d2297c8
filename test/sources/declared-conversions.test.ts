import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkSources } from '../../pipelines/check-sources.ts';
import { pullSources } from '../../pipelines/pull.ts';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { readSources } from '../../src/sources/config/sources-file.ts';
import { dateFormatMistake, windowValues } from '../../src/sources/http/window-days.ts';
import { clockFrom, dataWith, serve, terminal } from '../support/declared-network.ts';
import { click, LogLanding } from '../support/log-landing.ts';

const conversions = {
  path: '/actions',
  query: { since: '{from}', until: '{to}', page: '{page}' },
  records: 'actions',
  paging: { kind: 'page', size: 100, pages: 'pages' },
  date_format: '%Y-%m-%dT%H:%M:%SZ',
  rows: { at: 'test', not: 1 },
  fields: {
    conversion_id: 'id',
    click_id: { at: ['sub.s1', 'sub.s2'] },
    status: { at: 'state', words: { open: 'pending', ok: 'credit', no: 'reject', back: 'chargeback', spam: null } },
    occurred_at: { at: 'at', time: 'epoch_s' },
    changed_at: { at: 'seen', time: '%d.%m.%Y %H:%M', zone: 'Europe/Berlin' },
    payout: { at: 'cents', number: { scale: 2 } },
    currency: 'cur',
    event_id: 'goal',
    reason: 'why',
  },
};
const entryOf = (base_url: string, more: object = {}) => ({
  source: 'act',
  connector: 'http',
  base_url,
  conversions,
  ...more,
});

async function pullAt(data: DataDirectory, moment: string) {
  return pullSources({ data, terminal }, realEffects, clockFrom(Date.parse(moment)));
}

async function lines(data: DataDirectory): Promise<unknown[]> {
  const folder = join(data.landing, 'conversions');
  const files = (await readdir(folder)).toSorted();
  const texts = await Promise.all(files.map(async (file) => readFile(join(folder, file), 'utf8')));
  return texts.flatMap((text) => text.trimEnd().split('\n')).map((line) => JSON.parse(line) as unknown);
}

const seconds = (moment: string) => Date.parse(moment) / 1000;
const occurred = '2026-11-18T22:30:00Z';
const action = (id: number, more: object = {}) => ({
  id,
  sub: { s1: '', s2: `c${id}` },
  state: 'ok',
  at: seconds(occurred),
  cents: 425,
  ...more,
});

describe('conversions of a network that sources.json declares', () => {
  it('become lines of a log, with the others counted by reason', async () => {
    const url = await serve(() =>
      JSON.stringify({
        pages: 1,
        actions: [
          action(1, { goal: 'lvl5', cur: 'eur' }),
          action(2, { state: 'NO', why: `fraud\n${'a'.repeat(100_000)}`, seen: '19.11.2026 10:00' }),
          action(3, { state: 'open' }),
          action(4, { state: 'spam' }),
          action(5, { test: 1 }),
          action(6, { state: 'new' }),
          action(7, { sub: {} }),
          action(8, { at: 'yesterday' }),
          action(9, { cents: 'many' }),
          action(10, { cents: { amount: 1 } }),
          action(11, { cur: 'XXX' }),
          action(12, { id: null }),
          action(13, { cents: null, state: 'back' }),
        ],
      }),
    );
    const data = await dataWith(entryOf(url));
    await writeFile(data.settingsFile, JSON.stringify({ rates: { EUR: '2' } }));
    expect(await pullAt(data, '2026-11-20T12:00:00Z')).toMatchObject([
      {
        status: 'done',
        pages: 0,
        records: 0,
        conversion_lines: 4,
        // Each counts once, though both windows list it.
        conversions: 13,
        conversions_left_out: {
          passed_over: 2,
          unknown_status: 1,
          no_click: 1,
          bad_time: 1,
          bad_payout: 2,
          no_rate: 1,
          unreadable: 1,
        },
      },
    ]);
    expect(await lines(data)).toEqual([
      {
        conversion_id: 'act-1',
        click_id: 'c1',
        kind: 'credit',
        occurred_at: occurred,
        event_id: 'lvl5',
        payout: '8.5',
      },
      { conversion_id: 'act-3', click_id: 'c3', kind: 'pending', occurred_at: occurred, payout: '4.25' },
      {
        conversion_id: 'act-2',
        click_id: 'c2',
        kind: 'reject',
        occurred_at: '2026-11-19T09:00:00Z',
        payout: '4.25',
        reason: `fraud ${'a'.repeat(494)}`,
      },
      { conversion_id: 'act-13', click_id: 'c13', kind: 'chargeback', occurred_at: '2026-11-20T12:00:00Z' },
    ]);
  });

  it('are asked for window by window, and told of as they change', async () => {
    await using landing = await LogLanding.create();
    const asked: string[] = [];
    let listed = [action(1), action(2)];
    const url = await serve(({ searchParams }) => {
      const [since, until] = [searchParams.get('since') ?? '', searchParams.get('until') ?? ''];
      asked.push(`${since} ${until}`);
      const within = listed.filter(({ at }) => at >= seconds(since) && at <= seconds(until));
      return JSON.stringify({ pages: 1, actions: within });
    });
    const entry = entryOf(url, { reversal_days: 40 });
    await writeFile(landing.data.sourcesFile, JSON.stringify({ sources: [entry] }), { mode: 0o600 });
    await landing.put(
      'clicks/0.ndjson',
      [1, 2, 3].map((id) => click(`c${id}`, { clicked_at: '2026-11-01T00:00:00Z' })),
    );
    expect(await pullAt(landing.data, '2026-11-20T12:00:00Z')).toMatchObject([{ conversion_lines: 2 }]);
    expect(asked).toEqual(['2026-10-10T00:00:00Z 2026-11-11T23:59:59Z', '2026-11-10T00:00:00Z 2026-11-21T23:59:59Z']);
    listed = [action(1, { state: 'no' }), action(2, { cents: 500 }), action(3)];
    expect(await pullAt(landing.data, '2026-11-20T13:00:00Z')).toMatchObject([{ conversion_lines: 4 }]);
    expect(await pullAt(landing.data, '2026-11-20T14:00:00Z')).toMatchObject([{ conversion_lines: 0 }]);
    await landing.ingest({ asOf: '2026-11-20T16:00:00Z' });
    const rows = await landing.query<{ row: string }>(
      `SELECT conversion_id || ' ' || kind || coalesce(' ' || payout::DECIMAL(9, 2), '') AS row FROM conversion_events ORDER BY row`,
    );
    expect(rows.map(({ row }) => row)).toEqual([
      'act-1 credit 4.25',
      'act-1 reject',
      'act-2 chargeback',
      'act-2 credit 4.25',
      'act-2~2 credit 5.00',
      'act-3 credit 4.25',
    ]);
  });

  it('are the same ones however their numbers are written, and unreadable where they are not whole', async () => {
    let id = '5';
    const url = await serve(() => JSON.stringify({ pages: 1, actions: [action(7)] }).replace('"id":7', `"id":${id}`));
    const data = await dataWith(entryOf(url));
    const emitted: unknown[] = [];
    for (id of ['5', '5.0', '5e0', '"5 "', '5.5']) {
      const [pulled] = await pullAt(data, `2026-11-20T12:0${emitted.length}:00Z`);
      emitted.push([pulled?.conversion_lines, pulled?.conversions_left_out]);
    }
    const none = [0, {}];
    expect(emitted).toEqual([[1, {}], none, none, none, [0, { unreadable: 1 }]]);
    expect(await lines(data)).toMatchObject([{ conversion_id: 'act-5' }]);
  });

  it('that are asked for without days are asked for once', async () => {
    let requests = 0;
    const url = await serve(() => {
      requests++;
      return JSON.stringify({ pages: 1, actions: [action(1)] });
    });
    const data = await dataWith(entryOf(url, { conversions: { ...conversions, query: {} } }));
    expect(await pullAt(data, '2026-11-20T12:00:00Z')).toMatchObject([{ status: 'done', conversions: 1 }]);
    expect(requests).toBe(1);
  });

  it('are checked with one page beside the offers', async () => {
    const url = await serve(({ pathname }) =>
      pathname === '/actions'
        ? JSON.stringify({ pages: 1, actions: [action(1), action(2, { state: 'x' })] })
        : '[{"id": 1}]',
    );
    const data = await dataWith(entryOf(url, { offers: { fields: { external_id: 'id' } } }));
    const first = expect.stringContaining('"clickId":"c1"') as string;
    expect(await checkSources({ data, terminal })).toMatchObject([
      { records: 1, conversions: { records: 1, left_out: { unknown_status: 1 }, first }, error: null },
    ]);
  });

  it.each([
    [{ connector: 'everflow', secrets: { api_key: 'k' } }, 'goes with "connector": "http" only'],
    [{ postback: { token: 't' } }, 'each conversion would count twice'],
    [{ conversions: { ...conversions, date_format: '%Y-%m' } }, 'names no day'],
    [{ conversions: { ...conversions, date_format: 'epoch_us' } }, 'names no day'],
    [{ conversions: { ...conversions, fields: { ...conversions.fields, kind: 'k' } } }, '"kind": no field of ours'],
    [
      { conversions: { ...conversions, fields: { ...conversions.fields, status: { at: 's', words: { a: 'ok' } } } } },
      'sources[0].conversions.fields.status.words.a',
    ],
  ])('with %j are refused', async (more, error) => {
    const data = await dataWith(entryOf('https://x.example', more));
    expect(() => readSources(data)).toThrow(error);
  });
});

describe('days of a window', () => {
  it.each([
    ['%Y-%m-%d', '2026-01-09', '2026-12-31'],
    ['%d/%m/%y', '09/01/26', '31/12/26'],
    ['%e %b %Y', ' 9 Jan 2026', '31 Dec 2026'],
    ['%A, %B %d %Y %I:%M %p', 'Friday, January 09 2026 12:00 AM', 'Thursday, December 31 2026 11:59 PM'],
    ['%Y%j', '2026009', '2026365'],
    ['%Y-%m-%dT%H:%M:%S.%f%z', '2026-01-09T00:00:00.000+0000', '2026-12-31T23:59:59.999+0000'],
    ['%Y-%m-%dT%H:%M:%SZ', '2026-01-09T00:00:00Z', '2026-12-31T23:59:59Z'],
    ['epoch_s', '1767916800', '1798761599'],
    ['epoch_ms', '1767916800000', '1798761599999'],
  ])('are written as %s says', (format, from, to) => {
    expect(dateFormatMistake(format)).toBeUndefined();
    expect(windowValues('2026-01-09', '2026-12-31', format)).toEqual({ from, to });
  });
});
