import { describe, expect, it } from 'vitest';
import { checkSources } from '../../pipelines/check-sources.ts';
import { pullSources } from '../../pipelines/pull.ts';
import { dialects, SimulatedNetwork } from '../../src/demo/simulator/network.ts';
import type { SimulatedConversion } from '../../src/demo/simulator/offers.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { readSources } from '../../src/sources/config/sources-file.ts';
import { declaredNetwork } from '../../src/sources/connectors/declared-networks.ts';
import { click, LogLanding } from '../support/log-landing.ts';
import { clockFrom, dataWith, pullMine, serve, terminal } from '../support/declared-network.ts';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { slow } from '../support/slow.ts';

/** Pulls offers of a network whose answer is given, and returns what is written for landing. */
async function written(connector: string, ...answers: object[]): Promise<unknown[]> {
  let asked = 0;
  const base_url = await serve(() => JSON.stringify(answers[asked++] ?? answers.at(-1)));
  const secrets = dialects[connector]?.secrets('a-key');
  const { offers } = await pullMine({ connector, base_url, secrets, pull: ['offers'] });
  return offers;
}

const prodegeOffer = {
  id: 805886,
  name: 'Puzzles and Chaos iPhone CPE (US) (Incent)',
  anchor: 'Puzzles &amp; Chaos',
  description: 'A match-3 game',
  requirements: '<p>Install &amp; reach level 6</p>',
  categories: ['CPE', 'iPad'],
  creatives: { icon: 'https://images.example/1.jpg' },
  click_url: 'https://wall.example/vc/naeXr2c/offers/805886?source_type=offer_api&s1=',
  geo_targeting: { countries: [{ country_code: 'US', states: [] }, { country_code: 'GB' }] },
  device_targeting: {
    operating_systems: [{ name: 'ios', min_version: '15.0' }, { name: 'mac os' }],
    platforms: [{ name: 'smartphone' }],
  },
  events: [
    { id: '769510e4', name: 'Install', payout: '0', payout_type: 'flat' },
    { id: '76951a26', name: 'Reach &quot;6&quot;', payout: '8', payout_type: 'flat' },
  ],
};
const prodegeRecord = {
  external_id: 805886,
  title: 'Puzzles & Chaos',
  description: 'Install & reach level 6',
  currency: 'USD',
  image: 'https://images.example/1.jpg',
  categories: ['CPE', 'iPad'],
  countries: ['US', 'GB'],
  devices: ['ios', 'mac os'],
  destination_url: 'https://wall.example/vc/naeXr2c/offers/805886?source_type=offer_api&s1={click_id}',
  events: [
    { event_id: '769510e4', description: 'Install', payout: '0' },
    { event_id: '76951a26', description: 'Reach "6"', payout: '8' },
  ],
};

describe('offers of a network that has a file', () => {
  it('prodege: entities, milestones, and the user id behind the link', async () => {
    expect(await written('prodege', { status: 'success', data: [prodegeOffer] })).toEqual([prodegeRecord]);
  });

  it('bitlabs: the same by pages; a milestone that pays a share has no amount', async () => {
    const share = [{ id: 'e', name: 'Deposit', payout: '40', payout_type: 'percentage' }];
    const offers = [prodegeOffer, { ...prodegeOffer, id: 805887, events: share }];
    const page = (listed: object[]) => ({ status: 'success', data: { offers: listed } });
    expect(await written('bitlabs', page(offers), page([]))).toEqual([
      prodegeRecord,
      { ...prodegeRecord, external_id: 805887, events: [{ event_id: 'e', description: 'Deposit' }] },
    ]);
  });

  it('trackier: the lowest payout, goals, caps of conversions; none without a link or with a share', async () => {
    const campaign = {
      id: 5509,
      title: 'Wallet &amp; Co',
      description: '<b>Sign up</b>',
      status: 'active',
      model: 'cpi',
      currency: 'inr',
      payouts: [
        { payout: 120, geo: ['US'] },
        { payout: 80.5, geo: ['IN'] },
      ],
      goals: [{ id: 'g1', title: 'First deposit', payouts: [{ payout: 300 }, { payout: 250 }] }],
      countries: ['IN', 'US'],
      os: ['android'],
      device: ['mobile'],
      cap: { type: 'conversion', daily: 50, monthly: 0 },
      categories: ['Finance'],
      tracking_link: 'https://track.example/click?campaign_id=5509&pub_id=2',
    };
    const data = {
      count: 4,
      campaigns: [
        campaign,
        { ...campaign, id: 5510, status: 'paused', os: ['all'], cap: { type: 'click', daily: 9 }, goals: [] },
        { ...campaign, id: 5511, tracking_link: '' },
        { ...campaign, id: 5512, model: 'cps' },
      ],
    };
    const record = {
      external_id: 5509,
      title: 'Wallet & Co',
      description: 'Sign up',
      payout: '80.5',
      currency: 'INR',
      tracking_type: 'CPI',
      status: 'active',
      categories: ['Finance'],
      countries: ['IN', 'US'],
      devices: ['android'],
      destination_url: 'https://track.example/click?campaign_id=5509&pub_id=2&p1={click_id}',
      daily_cap: '50',
      events: [{ event_id: 'g1', description: 'First deposit', payout: '250' }],
    };
    const { daily_cap: _cap, events: _events, ...other } = record;
    expect(await written('trackier', { success: true, data })).toEqual([
      record,
      { ...other, external_id: 5510, status: 'paused', devices: ['all'] },
    ]);
  });

  it('offer18: deny lists, and nothing left is paused; a share has no payout; an error behind the last page', async () => {
    const offer = {
      offerid: '321',
      name: 'Farm &amp; Co',
      status: 'active',
      currency: 'usd',
      price: '1.80',
      model: 'CPI',
      category: 'Games, Mobile',
      country_allow: '',
      country_block: 'US, GB',
      os_allow: 'android,ios,windows_phone',
      os_block: 'ios',
      offer_terms: 'New users only',
      click_url: 'https://x.o18.link/c?o=321&m=7910&a=703626',
    };
    const data = {
      321: offer,
      322: { ...offer, offerid: '322', model: 'CPS', country_allow: 'US', country_block: '' },
      323: { ...offer, offerid: '323', country_allow: 'US', country_block: 'US' },
      324: { ...offer, offerid: '324', status: 'expired', os_allow: 'windows_phone' },
    };
    const answers = [
      { response: '200', data },
      { response: '400', error: 'no offers found' },
    ];
    const offers = (await written('offer18', ...answers)) as { countries?: string[] }[];
    const [first, ...others] = offers;
    expect(first?.countries).toHaveLength(247);
    expect(first?.countries).not.toContain('US');
    expect({ ...first, countries: [] }).toEqual({
      external_id: '321',
      title: 'Farm & Co',
      description: 'New users only',
      payout: '1.80',
      currency: 'USD',
      tracking_type: 'CPI',
      status: 'active',
      categories: ['Games', 'Mobile'],
      countries: [],
      devices: ['android'],
      destination_url: 'https://x.o18.link/c?o=321&m=7910&a=703626&aff_click_id={click_id}',
    });
    expect(others).toMatchObject([
      { external_id: '322', countries: ['US'] },
      { external_id: '323', status: 'paused' },
      { external_id: '324', status: 'paused' },
    ]);
    expect(others[0]).not.toHaveProperty('payout');
  });

  it('lootably: goals, everywhere, and a variable revenue that is no payout', async () => {
    const offer = {
      type: 'singlestep',
      offerID: '101-7',
      name: 'Quiz &#39;n&#39; Win',
      description: 'Answer',
      revenue: 0.42,
      image: 'https://images.example/7.png',
      countries: ['*'],
      categories: ['quiz'],
      devices: ['iphone', 'ipad', 'windows'],
      paymentModel: 'SOI',
      link: 'https://api.lootably.com/start?offer=101-7&sid={userID}',
    };
    const goals = [{ goalID: 'g-1', description: 'Level 5', revenue: 1.1, currencyReward: 110, isOptional: false }];
    const { revenue: _revenue, ...rest } = offer;
    const offers = [
      offer,
      { ...offer, offerID: '101-8', revenue: 'variable' },
      { ...rest, type: 'multistep', offerID: '101-9', goals, devices: ['*'] },
    ];
    const record = {
      external_id: '101-7',
      title: "Quiz 'n' Win",
      description: 'Answer',
      currency: 'USD',
      tracking_type: 'CPL',
      image: 'https://images.example/7.png',
      countries: ['*'],
      categories: ['quiz'],
      devices: ['iphone', 'ipad', 'windows'],
      destination_url: 'https://api.lootably.com/start?offer=101-7&sid={click_id}',
    };
    expect(await written('lootably', { success: true, data: { offers } })).toEqual([
      { ...record, payout: '0.42' },
      { ...record, external_id: '101-8' },
      {
        ...record,
        external_id: '101-9',
        devices: ['*'],
        events: [{ event_id: 'g-1', description: 'Level 5', payout: 1.1 }],
      },
    ]);
  });

  it('torox: macros of the user id, words of devices, events named by their texts', async () => {
    const offer = {
      offer_id: '77',
      offer_name: 'Bingo &amp; Co',
      offer_desc: 'Play',
      offer_url: 'https://torox.example/click/77/[USER_ID]',
      offer_url_easy: 'https://torox.example/ifr/77?u=[USER_ID]&s=[USER_ID]',
      payout: '2.5',
      payout_type: 'cpe',
      countries: ['DE'],
      platform: 'mobile',
      device: 'iphone_ipad',
      image_url: 'https://images.example/77.png',
      events: [{ event_name: 'Reach 5', payout: 2.5 }],
    };
    const offers = [offer, { ...offer, offer_id: '78', platform: 'web', device: '', offer_url_easy: null, events: [] }];
    const record = {
      external_id: '77',
      title: 'Bingo & Co',
      description: 'Play',
      payout: '2.5',
      currency: 'USD',
      tracking_type: 'CPE',
      image: 'https://images.example/77.png',
      countries: ['DE'],
      devices: ['ios'],
      destination_url: 'https://torox.example/ifr/77?u={click_id}&s={click_id}',
      events: [{ event_id: 'Reach 5', description: 'Reach 5', payout: 2.5 }],
    };
    const { events: _events, ...other } = record;
    expect(await written('torox', { response: { offers } })).toEqual([
      record,
      {
        ...other,
        external_id: '78',
        devices: ['all'],
        destination_url: 'https://torox.example/click/77/{click_id}',
      },
    ]);
  });

  it('notik: countries in four forms, the next page by an address without the keys', async () => {
    const offer = (offer_id: string, country_code: unknown) => ({
      offer_id,
      name: 'Coins',
      description1: 'Play',
      payout: '1.2',
      country_code,
      os: ['android'],
      categories: [],
      image_url: ' https://images.example/1.png ',
      click_url: 'https://notik.me/click?oid=1&user_id=[user_id]',
    });
    const page = (data: object[], next_page_url: string | null) => ({
      status: 'success',
      offers: { data, has_more_pages: next_page_url !== null, next_page_url },
    });
    const offers = (await written(
      'notik',
      page([offer('1', ['US', 'CA']), offer('2', 'US,CA')], '/api/v2/get-offers/all?page=2'),
      page([offer('3', { US: 'United States', CA: 'Canada' }), offer('4', ['all'])], null),
    )) as { countries: string[] }[];
    expect(offers.map(({ countries }) => countries)).toEqual([
      ['US', 'CA'],
      ['US', 'CA'],
      ['United States', 'Canada'],
      ['all'],
    ]);
    expect(offers[0]).toMatchObject({
      image: 'https://images.example/1.png',
      destination_url: 'https://notik.me/click?oid=1&user_id={click_id}',
    });
  });
});

describe('conversions of a network that has a file', () => {
  const conversion = (index: number): SimulatedConversion => ({
    id: String(1000 + index),
    clickId: index % 50 === 7 ? null : `c${index}`,
    status: index % 10 === 3 ? 'pending' : index % 10 === 4 ? 'rejected' : 'approved',
    payout: `${1 + (index % 5)}.25`,
    // From 20 September on.
    at: new Date(Date.parse('2026-09-20T22:30:00Z') + (index % 60) * 86_400_000).toISOString().replace('.000', ''),
  });

  it.each(['awin', 'cj', 'impact'])(
    '%s: come in windows that it takes, once each, to their clicks',
    slow,
    async (connector) => {
      await using landing = await LogLanding.create();
      await using network = await SimulatedNetwork.start(connector);
      network.conversions = Array.from({ length: 1200 }, (_, index) => conversion(index));
      const secrets = dialects[connector]?.secrets('a-key-of-the-simulator');
      const entry = { source: 'mine', connector, base_url: network.url, secrets };
      await writeFile(landing.data.sourcesFile, JSON.stringify({ sources: [entry] }), { mode: 0o600 });
      const pull = () =>
        pullSources({ data: landing.data, terminal }, realEffects, clockFrom(Date.parse('2026-11-20T12:00:00Z')));
      expect(await pull()).toMatchObject([{ status: 'done', error: null }]);
      expect(await pull()).toMatchObject([{ status: 'done', conversion_lines: 0 }]);
      await landing.put(
        'clicks/0.ndjson',
        Array.from({ length: 1200 }, (_, index) => click(`c${index}`, { clicked_at: '2026-09-01T00:00:00Z' })),
      );
      await landing.ingest({ asOf: '2026-11-20T16:00:00Z' });
      const approved = network.conversions.filter(({ status, clickId }) => status === 'approved' && clickId !== null);
      expect(
        await landing.query(
          `SELECT count(*) AS credits, sum(payout)::DOUBLE AS payout FROM conversion_events WHERE kind = 'credit'`,
        ),
      ).toEqual([{ credits: approved.length, payout: approved.reduce((sum, { payout }) => sum + Number(payout), 0) }]);
      expect(await landing.query('SELECT sum(rejected) AS rejected FROM ingest_files')).toEqual([{ rejected: 0 }]);
    },
  );

  it('cj: corrections are taken off what they correct, in whichever window, until nothing is left', async () => {
    const commission = (commissionId: string, own: object) => ({
      commissionId,
      original: false,
      originalActionId: 'a1',
      correctionReason: 'RETURNED_MERCHANDISE',
      actionStatus: 'locked',
      validationStatus: 'ACCEPTED',
      eventDate: '2026-10-01T10:00:00Z',
      shopperId: 'c1',
      ...own,
    });
    const listed: { window: number; record: object }[] = [
      {
        window: 0,
        record: commission('1', { original: true, correctionReason: null, pubCommissionAmountUsd: '10.00' }),
      },
    ];
    let asked = 0;
    const base_url = await serve(() => {
      const window = asked++ % 3;
      const records = listed.flatMap((each) => (each.window === window ? [each.record] : []));
      const publisherCommissions = { count: records.length, maxCommissionId: null, payloadComplete: true, records };
      return JSON.stringify({ data: { publisherCommissions } });
    });
    const data = await dataWith({
      source: 'mine',
      connector: 'cj',
      base_url,
      secrets: { publisher_id: '1', token: 't' },
    });
    const folder = join(data.landing, 'conversions');
    const seen = new Set<string>();
    const pulled = async (at: string) => {
      const [result] = await pullSources({ data, terminal }, realEffects, clockFrom(Date.parse(at)));
      const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ndjson')).toSorted();
      const news = files.filter((file) => !seen.has(file));
      for (const file of news) seen.add(file);
      const texts = await Promise.all(news.map((file) => readFile(join(folder, file), 'utf8')));
      const lines = texts.flatMap((text) =>
        text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as object),
      );
      return { lines, left_out: result?.conversions_left_out };
    };
    expect(await pulled('2026-11-20T12:00:00Z')).toMatchObject({ lines: [{ kind: 'credit', payout: '10' }] });
    listed.push({ window: 1, record: commission('2', { pubCommissionAmountUsd: '-4.00' }) });
    listed.push({ window: 1, record: commission('3', { pubCommissionAmountUsd: '-6', actionStatus: 'new' }) });
    expect(await pulled('2026-11-21T12:00:00Z')).toEqual({
      lines: [
        expect.objectContaining({ conversion_id: 'mine-1~2', kind: 'credit', payout: '6' }) as object,
        expect.objectContaining({
          conversion_id: 'mine-1',
          kind: 'chargeback',
          reason: 'returned_merchandise',
        }) as object,
      ],
      left_out: {},
    });
    listed[2] = { window: 2, record: commission('3', { pubCommissionAmountUsd: '-6' }) };
    expect(await pulled('2026-11-22T12:00:00Z')).toMatchObject({
      lines: [{ conversion_id: 'mine-1~2', kind: 'reject' }],
    });
    // The conversion is no longer listed: what became of it is known already.
    listed.shift();
    expect(await pulled('2026-11-23T12:00:00Z')).toEqual({ lines: [], left_out: { corrects_unlisted: 2 } });
  });

  it('cj: what was corrected wholly before it was credited is rejected', async () => {
    await using network = await SimulatedNetwork.start('cj');
    network.conversions = [0, 3, 4].map((index) => ({ ...conversion(index), at: '2026-11-18T10:00:00Z' }));
    const data = await dataWith({
      source: 'mine',
      connector: 'cj',
      base_url: network.url,
      secrets: dialects['cj']?.secrets('a-key-of-the-simulator'),
      reversal_days: 20,
    });
    expect(
      await pullSources({ data, terminal }, realEffects, clockFrom(Date.parse('2026-11-20T12:00:00Z'))),
    ).toMatchObject([{ status: 'done', conversion_lines: 3, conversions_left_out: {} }]);
  });

  it('cj: an error in place of the list fails the pull, and is no empty list', async () => {
    const answer = { data: null, errors: [{ message: 'Not authorized: CID 77' }] };
    const base_url = await serve(() => JSON.stringify(answer));
    const secrets = { publisher_id: '1', token: 't' };
    const { pulled } = await pullMine({ connector: 'cj', base_url, secrets });
    expect(pulled).toMatchObject({ status: 'failed', error: expect.stringContaining('Not authorized: CID 77') });
  });

  it('are checked by a page', async () => {
    await using network = await SimulatedNetwork.start('impact');
    network.conversions = [{ ...conversion(0), at: new Date().toISOString().replace(/\.\d+/, '') }];
    const secrets = dialects['impact']?.secrets('a-key-of-the-simulator');
    const data = await dataWith({ source: 'mine', connector: 'impact', base_url: network.url, secrets });
    expect(await checkSources({ data, terminal })).toMatchObject([{ error: null, conversions: { records: 1 } }]);
  });
});

describe('a source with such a network', () => {
  const entry = { connector: 'prodege', secrets: { aff: '1', api_key: 'k', wall_code: 'w' } };

  it('has its declaration, its address and its own settings', async () => {
    const data = await dataWith({ source: 'mine', ...entry, base_url: 'https://prodege.example', currency: 'EUR' });
    const [read] = readSources(data).sources;
    expect(read).toMatchObject({ base_url: 'https://prodege.example', currency: 'EUR', connector: 'prodege' });
    expect(read?.offers).toEqual(declaredNetwork('prodege')?.offers);
  });

  it.each([
    [{ ...entry, secrets: { aff: '1', api_key: 'k' } }, 'wall_code'],
    [{ ...entry, offers: { fields: { external_id: 'id' } } }, 'goes with "connector": "http" only'],
    [
      { connector: 'cj', secrets: { publisher_id: '1', token: 't' }, pull: ['conversions'], postback: { token: 't' } },
      'would count twice',
    ],
  ])('is refused where it is wrong: %j', async (wrong, error) => {
    const data = await dataWith({ source: 'mine', ...wrong });
    expect(() => readSources(data)).toThrow(error);
  });
});
