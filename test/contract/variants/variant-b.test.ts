import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { credentials, serveSmallNetwork } from '../../support/small-network.ts';

let running: Awaited<ReturnType<typeof serveSmallNetwork>>;

beforeAll(async () => {
  running = await serveSmallNetwork({
    tracking_url: 'https://go.example/track/',
    public_url: 'https://cdn.example',
  });
});

afterAll(() => running.close());

const offersPath = `/b/api/v1/offers?${credentials('site-b')}`;
const topPath = `/b/api/v1/offers/top-converting?${credentials('site-b')}`;
const idsOf = (offers: { id: number }[]) => offers.map(({ id }) => id);

describe('offers', () => {
  test('the body and a single-reward offer, field by field', async () => {
    const body = await running.json(offersPath);
    expect(Object.keys(body)).toEqual(['success', 'version', 'offers']);
    expect(body).toMatchObject({ success: true, version: 'v1' });
    expect(Object.keys(body.offers)).toEqual(['data']);
    expect(body.offers.data[0]).toStrictEqual({
      id: 1,
      type: 'offer',
      level: 'easy',
      stars: 4,
      title: 'Tournament "Gold"',
      description: 'Reach level 5.\nThen wait.',
      image: 'tournament-1a2b.png',
      payout: 2,
      categories: ['Games', 'Sports'],
      countries: ['côte d’ivoire', 'germany', 'united states'],
      devices: ['android', 'PC'],
      payment_term: 'net60',
      android_min_os: '8.0',
      ios_min_os: null,
      url: 'https://go.example/track/redirect/manual-offer/1/user/{user_id}/site/site-b',
    });
  });

  test('an offer without anything optional, in its first language', async () => {
    const body = await running.json(offersPath);
    expect(body.offers.data[1]).toMatchObject({
      title: 'Enquête',
      description: '',
      image: '',
      level: '',
      stars: 0,
      payout: 0.0099,
      categories: null,
      countries: ['All'],
      devices: ['ios'],
    });
    expect(body.offers.data[5]).toMatchObject({ devices: ['All'] });
  });

  test('a multireward offer carries its milestones, after commission', async () => {
    const body = await running.json(offersPath);
    expect(body.offers.data[2]).toMatchObject({
      type: 'multireward',
      payout: 4.8,
      events: [
        { offer_id: 3, payout: 0, description: 'Install' },
        { offer_id: 3, payout: 0.8, description: 'Reach level 5' },
        { offer_id: 3, payout: 4, description: 'Stufe 9' },
      ],
    });
    expect(Object.keys(body.offers.data[2].events[0])).toEqual(['offer_id', 'payout', 'description']);
  });

  test.each([
    ['', [1, 2, 3, 4, 5, 6]],
    ['type=', [1, 2, 3, 4, 5, 6]],
    ['type=multireward', [3, 5]],
    ['type=offer', [1, 2, 4, 6]],
    ['take=2', [1, 2]],
    ['take=2&skip=3', [4, 5]],
    ['type=offer&take=1&skip=1', [2]],
    ['take=10000', [1, 2, 3, 4, 5, 6]],
    ['skip=2147483647', []],
    ['take=&skip=', [1, 2, 3, 4, 5, 6]],
    ['limit=1&offset=bad&country=xyz&unknown=1&unknown=2', [1, 2, 3, 4, 5, 6]],
  ])('%s lists %j', async (parameters, expected) => {
    const body = await running.json(`${offersPath}&${parameters}`);
    expect(idsOf(body.offers.data)).toEqual(expected);
  });
});

describe('top-converting', () => {
  test('the body, hottest first', async () => {
    const body = await running.json(topPath);
    expect(Object.keys(body)).toEqual(['success', 'version', 'total', 'window', 'offers']);
    expect(body).toMatchObject({
      success: true,
      version: 'v1',
      total: 4,
      window: { yesterday: '2026-11-19', today: '2026-11-20' },
    });
    expect(idsOf(body.offers)).toEqual([3, 1, 6, 5]);
    expect(body.offers.map(({ rank, trend }: any) => [rank, trend])).toEqual([
      [1, 'stable'],
      [2, 'up'],
      [3, 'down'],
      [4, 'down'],
    ]);
  });

  test('an offer has the fields of the offer list, then trend and rank', async () => {
    const list = await running.json(offersPath);
    const { offers } = await running.json(topPath);
    expect(offers[0]).toStrictEqual({ ...list.offers.data[2], trend: 'stable', rank: 1 });
    expect(offers[1]).toStrictEqual({ ...list.offers.data[0], trend: 'up', rank: 2 });
  });

  test.each([
    [
      'type=offer',
      2,
      [
        [1, 1],
        [6, 2],
      ],
    ],
    [
      'type=multireward',
      2,
      [
        [3, 1],
        [5, 2],
      ],
    ],
    ['take=1&skip=2', 4, [[6, 3]]],
    ['type=multireward&skip=1', 2, [[5, 2]]],
    ['skip=4', 4, []],
  ])('%s has total %i and [id, rank] %j', async (parameters, total, expected) => {
    const body = await running.json(`${topPath}&${parameters}`);
    expect(body.total).toBe(total);
    expect(body.offers.map(({ id, rank }: any) => [id, rank])).toEqual(expected);
  });
});

describe.each([
  ['offers', offersPath],
  ['top-converting', topPath],
])('errors of %s', (_name, path) => {
  test.each([
    ['type=Offer', 401, 'invalid_type', 'type'],
    ['type=all', 401, 'invalid_type', 'type'],
    ['type=offer&type=offer', 400, 'invalid_parameter', 'type'],
    ['take=0', 400, 'invalid_parameter', 'take'],
    ['take=10001', 400, 'invalid_parameter', 'take'],
    ['take=-1', 400, 'invalid_parameter', 'take'],
    ['take=%2B5', 400, 'invalid_parameter', 'take'],
    ['take=+5', 400, 'invalid_parameter', 'take'],
    ['take=1e2', 400, 'invalid_parameter', 'take'],
    ['take=0x10', 400, 'invalid_parameter', 'take'],
    ['take=5.0', 400, 'invalid_parameter', 'take'],
    ['take=%D9%A5', 400, 'invalid_parameter', 'take'],
    ['take=%zz', 400, 'invalid_parameter', 'take'],
    ['take=5&take=5', 400, 'invalid_parameter', 'take'],
    ['skip=2147483648', 400, 'invalid_parameter', 'skip'],
    ['skip=99999999999999999999', 400, 'invalid_parameter', 'skip'],
    ['skip=Infinity', 400, 'invalid_parameter', 'skip'],
  ])('%s: %i %s', async (parameters, status, code, named) => {
    const body = await running.json(`${path}&${parameters}`, status);
    expect(Object.keys(body)).toEqual(['error', 'message']);
    expect(body.error).toBe(code);
    expect(body.message).toContain(named);
  });
});
