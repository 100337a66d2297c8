import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { credentials, serveSmallNetwork } from '../../support/small-network.ts';

let running: Awaited<ReturnType<typeof serveSmallNetwork>>;

beforeAll(async () => {
  running = await serveSmallNetwork({
    tracking_url: 'https://go.example',
    public_url: 'https://cdn.example/',
  });
});

afterAll(() => running.close());

const path = `/c/api/v1/offers?${credentials('site-c')}`;
const idsOf = (offers: { id: number }[]) => offers.map(({ id }) => id);

test('the body and a single-reward offer, field by field', async () => {
  const body = await running.json(path);
  expect(Object.keys(body)).toEqual(['success', 'version', 'total', 'offset', 'limit', 'has_more', 'offers']);
  expect(body).toMatchObject({ success: true, version: 'v1', total: 4, offset: 0, limit: 100, has_more: false });
  expect(body.offers[0]).toStrictEqual({
    id: 1,
    title: 'Tournament "Gold"',
    description: 'Reach level 5.\nThen wait.',
    image: 'https://cdn.example/asset/images/offers/tournament-1a2b.png',
    payout: 2,
    currency: 'USD',
    level: 'easy',
    stars: 4,
    categories: ['Games', 'Sports'],
    countries: ['CI', 'DE', 'US'],
    devices: ['android', 'desktop'],
    payment_term: 'net60',
    android_min_os: '8.0',
    ios_min_os: null,
    tracking_url: 'https://go.example/redirect/manual-offer/1/user/{user_id}/site/site-c',
    updated_at: '2026-11-10T10:00:00.25+00:00',
    created_at: '2026-10-01T08:00:00+00:00',
  });
  expect(body.offers[1]).toMatchObject({ title: 'Enquête', description: '', image: '', categories: [], countries: [] });
});

test('multireward offers carry their milestones', async () => {
  const body = await running.json(`${path}&type=multireward`);
  expect(idsOf(body.offers)).toEqual([3, 5]);
  expect(body.offers[0]).toMatchObject({ payout: 4.8, ios_min_os: '15' });
  expect(body.offers[1].events).toStrictEqual([{ offer_id: 5, payout: 0.8, description: 'Leave your address' }]);
});

test('money is written in its shortest form', async () => {
  const text = await (await running.get(path)).text();
  expect(text.match(/"payout":[^,]*/g)).toEqual(['"payout":2', '"payout":0.0099', '"payout":2.4', '"payout":0.4']);
});

describe('paging', () => {
  test.each([
    ['', 0, 100, [1, 2, 4, 6], false],
    ['limit=2', 0, 2, [1, 2], true],
    ['limit=2&offset=2', 2, 2, [4, 6], false],
    ['limit=3&offset=2', 2, 3, [4, 6], false],
    ['take=1&skip=1', 1, 1, [2], true],
    ['limit=1&take=3&offset=2&skip=0', 2, 1, [4], true],
    ['limit=&take=3&offset=&skip=1', 1, 3, [2, 4, 6], false],
    ['limit=500&offset=4', 4, 500, [], false],
    ['offset=2147483647', 2147483647, 100, [], false],
  ])('%s: offset %i, limit %i, offers %j, more: %s', async (parameters, offset, limit, expected, more) => {
    const body = await running.json(`${path}&${parameters}`);
    expect(body).toMatchObject({ total: 4, offset, limit, has_more: more });
    expect(idsOf(body.offers)).toEqual(expected);
  });
});

describe('filters', () => {
  test.each([
    ['country=DE', [1, 2, 4, 6]],
    ['country=us', [1, 2, 6]],
    ['country=FR', [2, 6]],
    ['device=desktop', [1, 4, 6]],
    ['device=ios', [2, 6]],
    ['category=games', [1]],
    ['category=SPORTS', [1]],
    ['category=sport', []],
    ['type=multireward&category=Games', [3]],
    ['min_payout=2', [1, 4]],
    ['min_payout=2.00001', [4]],
    ['min_payout=0.0099', [1, 2, 4, 6]],
    ['min_payout=0.00991', [1, 4, 6]],
    ['min_payout=0', [1, 2, 4, 6]],
    ['country=US&device=android&min_payout=1&category=games', [1]],
    ['updated_since=2026-11-10', [1, 2]],
    ['updated_since=2026-11-10T10:00:00.249999Z', [1, 2]],
    ['updated_since=2026-11-10T10:00:00.25Z', [2]],
    ['updated_since=2026-11-10T12:00:00.25+02:00', [2]],
    ['updated_since=2026-11-10T12:00:00.249%2B02:00', [1, 2]],
    ['updated_since=2026-11-12T00:00:00', []],
    ['country=&device=&category=&min_payout=&updated_since=', [1, 2, 4, 6]],
    ['region=DE&region=US', [1, 2, 4, 6]],
  ])('%s lists %j', async (parameters, expected) => {
    const body = await running.json(`${path}&${parameters}`);
    expect(idsOf(body.offers)).toEqual(expected);
    expect(body.total).toBe(expected.length);
  });

  test('total counts what matches, before paging', async () => {
    expect(await running.json(`${path}&country=DE&limit=1&offset=1`)).toMatchObject({
      total: 4,
      has_more: true,
      offers: [{ id: 2 }],
    });
  });
});

describe('a changed commission', () => {
  const changed = `/c/api/v1/offers?${credentials('changed')}`;

  test('moves updated_at of what had changed before it, for that site alone', async () => {
    const { offers } = await running.json(changed);
    expect(offers.map(({ id, updated_at }: any) => [id, updated_at])).toEqual([
      [1, '2026-11-11T00:00:00+00:00'],
      [2, '2026-11-12T00:00:00+00:00'],
      [4, '2026-11-11T00:00:00+00:00'],
      [6, '2026-11-11T00:00:00+00:00'],
    ]);
    expect(offers[0].payout).toBe(1.25);
  });

  test('is seen by updated_since', async () => {
    expect(await running.json(`${changed}&updated_since=2026-11-10T23:59:59Z`)).toMatchObject({ total: 4 });
    expect(await running.json(`${changed}&updated_since=2026-11-11`)).toMatchObject({ total: 1 });
  });
});

describe('include_removed', () => {
  test('lists offers that changed or went and are not in the full result', async () => {
    const body = await running.json(`${path}&updated_since=2026-11-09&device=ios&include_removed=1&limit=1`);
    expect(idsOf(body.offers)).toEqual([2]);
    expect(body.removed).toStrictEqual([
      { id: 1, removed_at: '2026-11-10T10:00:00.25+00:00', reason: 'no_match' },
      { id: 7, removed_at: '2026-11-15T00:00:00+00:00', reason: 'paused' },
      { id: 8, removed_at: '2026-11-16T00:00:00+00:00', reason: 'vanished' },
    ]);
  });

  test('is unpaged, and counts a changed commission', async () => {
    const body = await running.json(
      `/c/api/v1/offers?${credentials('changed')}&updated_since=2026-11-10T12:00:00Z&min_payout=1&include_removed=1&offset=100`,
    );
    expect(body).toMatchObject({ total: 2, offers: [] });
    expect(body.removed.map(({ id, reason }: any) => [id, reason])).toEqual([
      [2, 'no_match'],
      [3, 'no_match'],
      [5, 'no_match'],
      [6, 'no_match'],
      [7, 'paused'],
      [8, 'vanished'],
    ]);
  });

  test('leaves out what went before', async () => {
    expect(await running.json(`${path}&updated_since=2026-11-15T00:00:00Z&include_removed=1`)).toMatchObject({
      removed: [{ id: 8 }],
    });
    expect(await running.json(`${path}&updated_since=2026-11-16&include_removed=1`)).toMatchObject({ removed: [] });
  });

  test.each(['include_removed=1', 'updated_since=2026-11-09', 'updated_since=2026-11-09&include_removed=0'])(
    '%s has no such field',
    async (parameters) => {
      expect(await running.json(`${path}&${parameters}`)).not.toHaveProperty('removed');
    },
  );
});

describe('errors', () => {
  test.each([
    ['type=both', 'INVALID_TYPE', 'type'],
    ['type=MULTIREWARD', 'INVALID_TYPE', 'type'],
    ['updated_since=yesterday', 'INVALID_DATE', 'updated_since'],
    ['updated_since=2026-02-30', 'INVALID_DATE', 'updated_since'],
    ['updated_since=1763625600', 'INVALID_DATE', 'updated_since'],
    ['limit=0', 'INVALID_PARAMETER', 'limit'],
    ['limit=501', 'INVALID_PARAMETER', 'limit'],
    ['limit=ten', 'INVALID_PARAMETER', 'limit'],
    ['limit=10&take=0', 'INVALID_PARAMETER', 'take'],
    ['take=501', 'INVALID_PARAMETER', 'take'],
    ['offset=-1', 'INVALID_PARAMETER', 'offset'],
    ['offset=2147483648', 'INVALID_PARAMETER', 'offset'],
    ['skip=1.5', 'INVALID_PARAMETER', 'skip'],
    ['country=USA', 'INVALID_PARAMETER', 'country'],
    ['country=U1', 'INVALID_PARAMETER', 'country'],
    ['device=PC', 'INVALID_PARAMETER', 'device'],
    ['device=Android', 'INVALID_PARAMETER', 'device'],
    ['min_payout=.5', 'INVALID_PARAMETER', 'min_payout'],
    ['min_payout=-1', 'INVALID_PARAMETER', 'min_payout'],
    ['min_payout=1e3', 'INVALID_PARAMETER', 'min_payout'],
    ['min_payout=NaN', 'INVALID_PARAMETER', 'min_payout'],
    ['include_removed=yes', 'INVALID_PARAMETER', 'include_removed'],
    ['category=%ff', 'INVALID_PARAMETER', 'category'],
    ['category=a&category=b', 'INVALID_PARAMETER', 'category'],
    ['country=US&country=US', 'INVALID_PARAMETER', 'country'],
    ['updated_since=2026-11-01&updated_since=2026-11-01', 'INVALID_PARAMETER', 'updated_since'],
  ])('%s: 422 %s', async (parameters, code, named) => {
    const body = await running.json(`${path}&${parameters}`, 422);
    expect(Object.keys(body)).toEqual(['success', 'error']);
    expect(body.success).toBe(false);
    expect(Object.keys(body.error)).toEqual(['code', 'message']);
    expect(body.error.code).toBe(code);
    expect(body.error.message).toContain(named);
  });
});
