import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { pullMine } from '../support/declared-network.ts';

/** Networks that offerline does not know, each declared in `sources.json` alone. */
const networks = {
  // Fields by the DTOs and fixtures of https://packagist.org/packages/jakuborava/scaleo-io-client.
  scaleo: {
    path: '/api/v2/affiliate/offers',
    query: { 'api-key': '{api_key}', page: '{page}', perPage: '{size}' },
    records: 'info.offers',
    paging: { kind: 'page', size: 2, total: { header: 'X-Pagination-Total-Count' } },
    success: [{ at: 'status', is: ['1'] }],
    fields: {
      external_id: 'id',
      title: { at: 'title', text: 'html' },
      description: { at: 'description', text: 'html' },
      payout: { each: 'goals', rows: { at: 'is_default', is: 1 }, at: 'payout_for_affiliate', lowest: true },
      currency: 'currency',
      countries: { at: 'targeting.geo.allowed', split: ',', except: 'targeting.geo.denied' },
      devices: { at: 'targeting.deviceType.allowed', split: ',', except: 'targeting.deviceType.denied' },
      categories: { each: 'categories', at: 'title' },
      image: 'image',
      preview_url: 'links.0.preview',
    },
  },
  // Shape by the vendor's description of its Direct Offerlink API, with its example.
  mobrand: {
    path: '/{user}/bulk/liveoffers/v3/{feed}',
    query: { apikey: '{api_key}' },
    records: 'campaigns.*.list',
    rows: { at: 'incent', is: true },
    fields: {
      external_id: 'id',
      title: { at: ['*.name', 'offerName'], text: 'html' },
      description: { at: ['userFlow', 'kpi', 'notes'], text: 'html' },
      payout: 'payout',
      countries: { at: 'countries', upper: true },
      devices: { at: '*.platform' },
      categories: { at: '*.category2' },
      image: '*.icon',
      preview_url: '*.previewLink',
      destination_url: 'offerLink',
      daily_cap: { each: 'caps', rows: { at: 'title', is: 'Daily Cap' }, at: 'amount', lowest: true },
    },
  },
  // Shape by https://docs.revtoo.com/api/offers; an asterisk is a payout that varies.
  revtoo: {
    method: 'POST',
    path: '/api/offers/',
    form: { api_key: '{api_key}', user_id: '[CLICK]', limit: '{size}', page: '{page}' },
    records: 'offers',
    paging: { kind: 'page', size: 2, total: 'total_offers' },
    success: [{ at: 'success', is: ['true'] }],
    rows: [
      { at: 'category', is: 'offer' },
      { at: 'payout', not: '*' },
    ],
    fields: {
      external_id: 'id',
      title: { at: 'title', text: 'html' },
      description: { at: 'description', text: 'html' },
      payout: 'payout',
      countries: 'countries',
      devices: { at: 'os', words: { andorid: 'android' } },
      image: 'image',
      destination_url: 'url',
      created_at: { at: 'timestamp', time: 'epoch_s' },
      events: { each: 'events', event_id: 'id', description: 'name', payout: 'payout' },
    },
  },
};

const secrets = { api_key: 'k3y&=', user: 'uSr1', feed: 'sRc2' };

/** Pulls from a network that answers as `answer` does, with the key of each request checked. */
async function pull(name: keyof typeof networks, answer: (sent: string) => { body: unknown; headers?: object }) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const sent = `${request.method} ${request.url} ${Buffer.concat(chunks).toString()}`;
      const { body, headers } = answer(sent);
      response.writeHead(sent.includes('=k3y%26%3D') ? 200 : 401, { ...headers }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => server.close().closeAllConnections());
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return pullMine({ connector: 'http', base_url, secrets, offers: networks[name] });
}

it('Scaleo: totals in headers, deny lists, the default goal', async () => {
  const offer = (id: number, more: object = {}) => ({
    id,
    title: `Bank &amp; Co ${id}`,
    description: '<p>Open an account.</p>',
    image: `https://img.scaleo.example/${id}.png`,
    currency: 'EUR',
    goals: [
      { goal_id: 1, goal_name: 'Lead', goal_type_name: 'CPL', is_default: 0, payout_for_affiliate: '0.50' },
      { goal_id: 2, goal_name: 'Deposit', goal_type_name: 'CPA', is_default: 1, payout_for_affiliate: '12.50' },
    ],
    targeting: { geo: { allowed: 'DE,AT,CH', denied: 'CH' }, deviceType: { denied: 'Desktop' } },
    links: [{ id: 9, title: 'Landing', url: 'https://lp.example', preview: `https://lp.example/${id}`, status: 1 }],
    categories: [
      { id: 3, title: 'Finance' },
      { id: 4, title: 'Banks' },
    ],
    ...more,
  });
  const all = [offer(1), offer(2, { goals: [], targeting: null, categories: [], links: [] }), offer(3)];
  const { pulled, offers } = await pull('scaleo', (sent) => {
    const page = Number(/[?&]page=(\d+)/.exec(sent)?.[1]);
    return {
      body: { status: 1, info: { offers: all.slice((page - 1) * 2, page * 2) } },
      headers: { 'x-pagination-total-count': 3, 'x-pagination-per-page': 2 },
    };
  });
  expect(pulled).toMatchObject({ status: 'done', pages: 2, records: 3 });
  const whole = (id: number) => ({
    external_id: id,
    title: `Bank & Co ${id}`,
    description: 'Open an account.',
    payout: '12.50',
    currency: 'EUR',
    countries: ['DE', 'AT'],
    devices: ['android', 'ios'],
    categories: ['Finance', 'Banks'],
    image: `https://img.scaleo.example/${id}.png`,
    preview_url: `https://lp.example/${id}`,
  });
  const { external_id, title, description, currency, image } = whole(2);
  expect(offers).toEqual([whole(1), { external_id, title, description, currency, image }, whole(3)]);
});

it('Mobrand: offers within campaigns, of which some forbid incentives', async () => {
  const campaigns = [
    {
      icon: 'https://img.mobrand.example/7.jpg',
      name: 'Invest: Learn & Earn',
      platform: 'ios',
      category1: 'apps',
      category2: 'finance',
      list: [
        { id: 'aaa', countries: ['us'], payout: 0.44, incent: false, offerLink: 'https://t.mobrand.example/a?m=2' },
        {
          id: 'bbb',
          countries: ['us', 'gb'],
          payout: 0.22,
          incent: true,
          offerLink: 'https://t.mobrand.example/b?m=2',
          caps: [
            { type: 'Installs', title: 'Monthly Cap', amount: 400 },
            { type: 'Installs', title: 'Daily Cap', amount: 40 },
            { type: '$', title: 'Daily Budget', amount: 9 },
          ],
          notes: 'Soft incent',
          offerName: 'Invest (iPhone 8.0+) US - Incent',
          kpi: null,
          userFlow: null,
        },
      ],
      bundleId: '1017148055',
      previewLink: 'https://apps.example/id1017148055',
    },
    { name: 'Nothing now', platform: 'android', list: [] },
  ];
  const { pulled, offers } = await pull('mobrand', (sent) => {
    expect(sent).toBe('GET /uSr1/bulk/liveoffers/v3/sRc2?apikey=k3y%26%3D ');
    return { body: { sourceid: 'sRc2', campaigns } };
  });
  expect(pulled).toMatchObject({ status: 'done', records: 2, left_out: { passed_over: 1 } });
  expect(offers).toEqual([
    {
      external_id: 'bbb',
      title: 'Invest: Learn & Earn',
      description: 'Soft incent',
      payout: 0.22,
      currency: 'USD',
      countries: ['US', 'GB'],
      devices: ['ios'],
      categories: ['finance'],
      image: 'https://img.mobrand.example/7.jpg',
      preview_url: 'https://apps.example/id1017148055',
      destination_url: 'https://t.mobrand.example/b?m=2',
      daily_cap: '40',
    },
  ]);
});

it('RevToo: a form, milestones, payouts that vary and surveys left out', async () => {
  const offer = (id: number, more: object = {}) => ({
    id,
    hasEvents: false,
    title: `Game ${id}`,
    description: 'Reach level 5 (New Users Only)',
    payout: 1.96,
    reward: 117.6,
    url: `https://revtoo.example/redirect?offer_id=${id}&user_id=[CLICK]`,
    image: `https://img.revtoo.example/${id}`,
    category: 'offer',
    countries: ['BE', 'FR'],
    os: ['web', 'andorid'],
    timestamp: 1737321735,
    events: [],
    ...more,
  });
  const events = [
    { id: 11, name: 'Install', payout: 0.1 },
    { id: 12, name: 'Level 5', payout: 1.86 },
  ];
  const all = [offer(1), offer(2, { category: 'survey' }), offer(3, { payout: '*' }), offer(4, { events })];
  const { pulled, offers } = await pull('revtoo', (sent) => {
    const page = Number(/&page=(\d+)/.exec(sent)?.[1]);
    expect(sent).toBe(`POST /api/offers/ api_key=k3y%26%3D&user_id=%5BCLICK%5D&limit=2&page=${page}`);
    const found = all.slice((page - 1) * 2, page * 2);
    return { body: { success: true, status: 200, total_offers: 4, shown_offers: found.length, offers: found } };
  });
  expect(pulled).toMatchObject({ status: 'done', pages: 2, records: 4, left_out: { passed_over: 2 } });
  const whole = (id: number) => ({
    external_id: id,
    title: `Game ${id}`,
    description: 'Reach level 5 (New Users Only)',
    payout: 1.96,
    currency: 'USD',
    countries: ['BE', 'FR'],
    devices: ['web', 'android'],
    image: `https://img.revtoo.example/${id}`,
    destination_url: `https://revtoo.example/redirect?offer_id=${id}&user_id=[CLICK]`,
    created_at: '2025-01-19T21:22:15Z',
  });
  const milestones = events.map(({ id, name, payout }) => ({ event_id: id, description: name, payout }));
  expect(offers).toEqual([whole(1), { ...whole(4), events: milestones }]);
});
