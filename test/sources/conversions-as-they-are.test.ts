import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pullSources } from '../../pipelines/pull.ts';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { dataWith, serve, terminal } from '../support/declared-network.ts';

/** Pulls by a clock that only waits move. */
async function pullAt(data: DataDirectory, moment: string) {
  let now = Date.parse(moment);
  const clock = {
    now: () => now++,
    steady: () => now,
    wait: async (ms: number) => void (now += ms),
    random: () => 0.5,
  };
  const [pulled] = await pullSources({ data, terminal }, realEffects, clock);
  return pulled;
}

/** Lines of all logs, in the order of their pulls. */
async function linesOf(data: DataDirectory): Promise<unknown[]> {
  const folder = join(data.landing, 'conversions');
  const names = (await readdir(folder)).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.flatMap((text) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  );
}

const of = (connector: string, base_url: string, own: object) => ({
  source: connector,
  connector,
  base_url,
  pull: ['conversions'],
  reversal_days: 5,
  ...own,
});

it('CAKE credits what is approved or says nothing, and counts words that it does not know', async () => {
  const conversion = (conversion_id: number, own: object) => ({
    conversion_id,
    conversion_date: '11/18/2026 10:00:00',
    price: 77,
    subid_1: `c${conversion_id}`,
    ...own,
  });
  const data = [
    conversion(1, { disposition: null }),
    conversion(2, { disposition: 'Approved' }),
    conversion(3, { disposition: 'Under review' }),
    conversion(4, { disposition: { disposition_id: 9 } }),
    conversion(5, { disposition: 'constructor' }),
    conversion(6, {}),
    conversion(7, { disposition: 'Pending' }),
  ];
  const url = await serve(({ searchParams }) => {
    const isFirst = searchParams.get('start_at_row') === '1';
    return JSON.stringify({ success: true, row_count: data.length, data: isFirst ? data : [] });
  });
  const place = await dataWith(
    of('cake', url, { secrets: { api_key: 'k', affiliate_id: '77' }, time_zone: 'America/New_York' }),
  );
  expect(await pullAt(place, '2026-11-20T12:00:00Z')).toMatchObject({
    error: null,
    conversions_left_out: { unknown_status: 3 },
  });
  expect(await linesOf(place)).toMatchObject(
    [1, 2, 6, 7].map((id) => ({
      conversion_id: `cake-${id}`,
      kind: id === 7 ? 'pending' : 'credit',
      payout: '77',
    })),
  );
});

it('TUNE’s conversions keep their ids when it replaces its own', async () => {
  const states: { id: string | null; event: string | null; status: string }[] = [];
  const url = await serve(({ searchParams }) => {
    expect(searchParams.getAll('fields[]')).toContain('Stat.tune_event_id');
    const rows = states.map(({ id, event, status }) => ({
      Stat: {
        id,
        tune_event_id: event,
        datetime: '2026-11-18 10:00:00',
        payout: '3.60000',
        currency: 'USD',
        conversion_status: status,
        affiliate_info1: 'c1',
      },
      Goal: { name: 'Level 5' },
    }));
    return JSON.stringify({ response: { status: 1, data: { count: rows.length, pageCount: 1, data: rows } } });
  });
  const place = await dataWith(of('tune', url, { secrets: { api_key: 'k' }, time_zone: 'UTC' }));
  const pulls: [string, (typeof states)[number]][] = [
    ['10', { id: '5', event: 'f81d', status: 'approved' }],
    ['11', { id: null, event: 'f81d', status: 'approved' }],
    ['12', { id: null, event: 'f81d', status: 'rejected' }],
  ];
  for (const [hour, state] of pulls) {
    states.splice(0, 1, state);
    expect(await pullAt(place, `2026-11-20T${hour}:00:00Z`)).toMatchObject({ error: null, conversions: 1 });
  }
  // Only the new name is known of the next one.
  states.push({ id: null, event: 'f81e', status: 'approved' });
  await pullAt(place, '2026-11-20T13:00:00Z');
  const credit = { kind: 'credit', click_id: 'c1', payout: '3.6', event_id: 'Level 5' };
  expect(await linesOf(place)).toMatchObject([
    { conversion_id: 'tune-5', ...credit },
    { conversion_id: 'tune-5', kind: 'reject', occurred_at: '2026-11-20T12:00:00Z' },
    { conversion_id: 'tune-f81e', ...credit },
  ]);
});

it.each([
  ['affise', 'conversions', { id: 7, status: 'confirmed', sub1: 'c1', created_at: '2026-11-18 10:00:00' }],
  [
    'everflow',
    'conversions',
    { conversion_id: 7, status: 'approved', sub1: 'c1', conversion_unix_timestamp: 1_795_000_000 },
  ],
])('%s credits a conversion once however the number of its id is written', async (connector, list, conversion) => {
  let id = '7';
  const paging = { page: 1, per_page: 500, page_size: 500, total_count: 1 };
  const url = await serve(() =>
    JSON.stringify({ status: 1, [list]: [conversion], pagination: paging, paging }).replace('id":7', `id":${id}`),
  );
  const place = await dataWith(of(connector, url, { secrets: { api_key: 'k' } }));
  for (id of ['7', '7.0', '7e0'])
    expect(await pullAt(place, '2026-11-20T12:00:00Z')).toMatchObject({ error: null, conversions: 1 });
  expect(await linesOf(place)).toMatchObject([{ conversion_id: `${connector}-7` }]);
});

it('Affise gives its reason as a comment, and the amount of what it declines before it was credited', async () => {
  const conversions = [
    {
      id: '5b0e',
      status: 'declined',
      payouts: 4,
      currency: 'usd',
      sub1: 'c1',
      goal_value: '2',
      comment: 'Partner is banned',
      created_at: '2026-11-18 10:00:00',
      updatedAt: '2026-11-19 11:00:00',
    },
    { id: '5b0f', status: 'on hold by hand', payouts: 4, sub1: 'c2', created_at: '2026-11-18 10:00:00' },
  ];
  const url = await serve(() =>
    JSON.stringify({ status: 1, conversions, pagination: { per_page: 500, total_count: 2, page: 1 } }),
  );
  const place = await dataWith(of('affise', url, { secrets: { api_key: 'k' } }));
  expect(await pullAt(place, '2026-11-20T12:00:00Z')).toMatchObject({
    error: null,
    conversions_left_out: { unknown_status: 1 },
  });
  expect(await linesOf(place)).toMatchObject([
    {
      conversion_id: 'affise-5b0e',
      kind: 'reject',
      payout: '4',
      event_id: '2',
      reason: 'Partner is banned',
      occurred_at: '2026-11-19T11:00:00Z',
    },
  ]);
});

const at = '2026-11-18T10:00:00';
const amount = 1.2340000000000002;
it.each<[connector: string, secrets: object, answer: object]>([
  [
    'affise',
    { api_key: 'k' },
    {
      status: 1,
      conversions: [{ id: 7, status: 'confirmed', sub1: 'c1', payouts: amount, created_at: at }],
      pagination: { total_count: 1 },
    },
  ],
  [
    'awin',
    { publisher_id: '1', token: 'k' },
    [
      {
        id: 7,
        commissionStatus: 'approved',
        clickRefs: { clickRef: 'c1' },
        transactionDate: at,
        commissionAmount: { amount, currency: 'USD' },
      },
    ],
  ],
  [
    'cake',
    { api_key: 'k', affiliate_id: '7' },
    { success: true, row_count: 1, data: [{ conversion_id: 7, conversion_date: at, price: amount, subid_1: 'c1' }] },
  ],
  [
    'cj',
    { publisher_id: '1', token: 'k' },
    {
      data: {
        publisherCommissions: {
          payloadComplete: true,
          records: [
            {
              commissionId: 7,
              original: true,
              originalActionId: 7,
              actionStatus: 'locked',
              eventDate: `${at}Z`,
              shopperId: 'c1',
              pubCommissionAmountUsd: String(amount),
            },
          ],
        },
      },
    },
  ],
  [
    'everflow',
    { api_key: 'k' },
    {
      conversions: [
        {
          conversion_id: 7,
          status: 'approved',
          sub1: 'c1',
          revenue: amount,
          conversion_unix_timestamp: Date.parse(`${at}Z`) / 1000,
        },
      ],
      paging: { total_count: 1 },
    },
  ],
  [
    'impact',
    { account_sid: 'a', auth_token: 'k' },
    { Actions: [{ Id: '7', State: 'APPROVED', EventDate: `${at}Z`, SubId1: 'c1', Payout: String(amount) }] },
  ],
  [
    'tune',
    { api_key: 'k' },
    {
      response: {
        status: 1,
        data: {
          count: 1,
          data: [
            {
              Stat: {
                id: 7,
                datetime: at.replace('T', ' '),
                payout: String(amount),
                conversion_status: 'approved',
                affiliate_info1: 'c1',
              },
            },
          ],
        },
      },
    },
  ],
])('%s credits a share that it computed in binary floating point', async (connector, secrets, answer) => {
  const behind = { success: true, row_count: 0, data: [] };
  const url = await serve(({ searchParams }) =>
    JSON.stringify(searchParams.get('start_at_row') === '2' ? behind : answer),
  );
  const place = await dataWith(of(connector, url, { secrets, time_zone: 'UTC' }));
  expect(await pullAt(place, '2026-11-20T12:00:00Z')).toMatchObject({ error: null, conversions_left_out: {} });
  expect(await linesOf(place)).toMatchObject([{ conversion_id: `${connector}-7`, kind: 'credit', payout: '1.234' }]);
});
