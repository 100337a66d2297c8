import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pullSources } from '../../pipelines/pull.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { alpha2Countries } from '../../src/kit/vocabulary/countries.ts';
import { parseSettings } from '../../src/kit/config/settings.ts';
import { networkAnswers } from './network-answers.ts';
import { serveUntil, terminal } from '../support/declared-network.ts';
import { LogLanding } from '../support/log-landing.ts';

/** What became of the records of each network: by source and the network's id. */
let catalog: Record<string, Record<string, unknown>>;
let rejects: { source: string; id: string; reason: string }[];
let warnings: Record<string, Record<string, number>>;
let pulls: { source: string; error: string | null }[];
let landing: LogLanding;
const stops: (() => void)[] = [];

beforeAll(async () => {
  landing = await LogLanding.create();
  const sources: object[] = [];
  for (const [connector, { secrets, currency, answer }] of Object.entries(networkAnswers)) {
    const { url, stop } = await serveUntil((asked) => {
      const answered = answer(asked);
      return typeof answered === 'string' ? answered : JSON.stringify(answered);
    });
    stops.push(stop);
    sources.push({ source: connector, connector, base_url: url, secrets, currency, pull: ['offers'] });
  }
  await writeFile(landing.data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
  await writeFile(landing.data.settingsFile, JSON.stringify({ sources: { ogads: { mode: 'delta' } } }));
  let now = Date.parse('2026-11-20T10:00:00Z');
  const clock = {
    now: () => now++,
    steady: () => now,
    wait: async (ms: number) => void (now += ms),
    random: () => 0.5,
  };
  const pulled = await pullSources({ data: landing.data, terminal }, realEffects, clock);
  pulls = pulled.map(({ source, error }) => ({ source, error }));
  warnings = Object.fromEntries(pulled.map((each) => [each.source, each.warnings]));
  await landing.ingest({ settings: parseSettings('{"sources": {"ogads": {"mode": "delta"}}}', 'offerline.json') });
  const rows = await landing.query<Record<string, unknown>>(
    `SELECT source, external_id, status, titles->>'en' AS title, descriptions->>'en' AS description,
       payout::DOUBLE AS payout, daily_cap, countries, devices, android_min_os, tracking_type, destination_url,
       list_transform(from_json(events, '["JSON"]'), event -> concat(event->>'event_id', ' ', event->'descriptions'->>'en', ' ', event->>'payout')) AS events
     FROM offer_versions JOIN offers USING (offer_id)`,
  );
  catalog = Object.fromEntries(rows.map((row) => [`${String(row['source'])} ${String(row['external_id'])}`, row]));
  rejects = await landing.query(
    `SELECT split_part(path, '/', 2) AS source, raw->>'external_id' AS id, reason FROM rejects ORDER BY 1, 2`,
  );
});

afterAll(async () => {
  for (const stop of stops) stop();
  await landing[Symbol.asyncDispose]();
});

const offer = (source: string, id: string | number) => catalog[`${source} ${id}`];
it('all of them are pulled', () => {
  expect(pulls).toEqual(Object.keys(networkAnswers).map((source) => ({ source, error: null })));
});

describe('AdGem', () => {
  it('has its offers under data.offers, each with its own countries, systems and goals', () => {
    expect(offer('adgem', '1234567894561234567')).toMatchObject({
      status: 'active',
      title: 'Castle & Coins',
      description: 'Build a castle\nInstall the app\nReach level 5',
      payout: 1.25,
      countries: ['DE', 'PK'],
      devices: ['android'],
      android_min_os: '8.0',
      tracking_type: 'CPE',
      destination_url: 'https://api.adgem.example/v1/click?all=1&cid=100&playerid={click_id}',
      events: ['118093 Level 1 0.25', '118094 Level 5 1'],
    });
  });

  it('is paused where no device is left, refused where only regions are named, unpaid where a click pays', () => {
    expect(offer('adgem', '2')).toMatchObject({ status: 'paused' });
    expect(rejects.filter(({ source }) => source === 'adgem')).toEqual([
      { source: 'adgem', id: '3', reason: 'bad_countries' },
      { source: 'adgem', id: '4', reason: 'missing_payout' },
      { source: 'adgem', id: '5', reason: 'bad_devices' },
    ]);
    expect(warnings['adgem']).toEqual({ region_rules: 1, no_fixed_payout: 1 });
  });

  it('of old is paused where each system is false, and shown on those that are true', () => {
    expect(offer('adgem_legacy', '7')).toMatchObject({ status: 'paused' });
    expect(offer('adgem_legacy', '8')).toMatchObject({ status: 'active', devices: ['ios'], tracking_type: 'CPI' });
    expect(offer('adgem_legacy', '9')).toMatchObject({ status: 'active', devices: [] });
  });
});

describe('CAKE', () => {
  it('has a status of two members, by both of their names', () => {
    expect(offer('cake', '11-33')).toMatchObject({ status: 'active', devices: ['ios'], tracking_type: 'CPI' });
    expect(offer('cake', '12-36')).toMatchObject({ status: 'active' });
    expect(offer('cake', '13-39')).toMatchObject({ status: 'paused' });
  });

  it('has the link of its campaign, the creative that is one; without a campaign it is paused', () => {
    expect(offer('cake', '11-33')).toMatchObject({
      destination_url: 'http://t.cake.example/?a=77&c=7781&s2=x&s1={click_id}',
    });
    expect(offer('cake', '14-42')).toMatchObject({ status: 'paused', destination_url: null });
    expect(warnings['cake']).toEqual({ no_link: 3 });
  });

  it('is paused where its campaign is answered with an error in place of one', () => {
    expect(offer('cake', '15-45')).toMatchObject({ status: 'paused', destination_url: null });
  });
});

describe('Affise', () => {
  it('never adds amounts of two currencies: one that pays all goals counts, else the offer is refused', () => {
    expect(offer('affise', 902)).toMatchObject({ payout: 2, events: [] });
    expect(rejects.filter(({ source }) => source === 'affise')).toEqual([
      { source: 'affise', id: '903', reason: 'missing_payout' },
    ]);
    expect(warnings['affise']).toMatchObject({ several_currencies: 2 });
  });

  it('names goals by their titles, and takes the lowest of a goal', () => {
    expect(offer('affise', 660)).toMatchObject({ payout: 28.32, events: ['fd First deposit 28', 'reg reg 0.32'] });
    expect(warnings['affise']).toMatchObject({ payout_differs_by_target: 1 });
  });

  it('keeps to what is denied, by system and type of device', () => {
    expect(offer('affise', 902)).toMatchObject({ status: 'active', devices: ['android', 'desktop'], countries: [] });
    expect(offer('affise', 660)).toMatchObject({ devices: ['android'], countries: ['RU', 'UA'] });
    expect(offer('affise', 904)).toMatchObject({ status: 'paused' });
  });

  it('keeps to systems that are named with a version, and to lists that are denied', () => {
    expect(offer('affise', 906)).toMatchObject({ status: 'active', devices: ['android'] });
    expect(offer('affise', 907)).toMatchObject({ status: 'active', devices: ['android'] });
    expect(warnings['affise']).toMatchObject({ os_versions: 2, device_types_in_part: 1, other_rules: 1 });
  });

  it('has the cap of the whole offer, and none of a goal or a country', () => {
    expect(offer('affise', 906)).toMatchObject({ daily_cap: 1000 });
  });

  it('has the only description, its type, and our click id once', () => {
    expect(offer('affise', 902)).toMatchObject({
      description: 'For new users & friends',
      tracking_type: 'CPI',
      destination_url: 'http://affise.example/click?pid=610&offer_id=902&sub1={click_id}',
    });
    expect(offer('affise', 905)).toBeUndefined();
  });
});

describe('TUNE', () => {
  it('pays by goals: those that are there, with their sum', () => {
    expect(offer('tune', 907)).toMatchObject({ payout: 4, events: ['Install Install 0.4', 'Level & 5 Level & 5 3.6'] });
    expect(offer('tune', 908)).toMatchObject({ payout: 1.5, events: ['Deposit Deposit 9'] });
  });

  it('names systems, or the store that the app is in', () => {
    expect(offer('tune', 907)).toMatchObject({ devices: ['android', 'ios'] });
    expect(offer('tune', 908)).toMatchObject({ devices: ['ios'] });
  });

  it('has our click id where its sub id was, and is paused without a link', () => {
    expect(offer('tune', 907)).toMatchObject({
      destination_url: 'https://track.tune.example/aff_c?offer_id=907&aff_sub={click_id}&aff_id=1010',
    });
    expect(offer('tune', 909)).toMatchObject({ status: 'paused', payout: 0.32 });
    expect(warnings['tune']).toEqual({ no_link: 1, share_not_counted: 1, no_fixed_payout: 1 });
  });
});

describe('Everflow', () => {
  it('keeps to excluded systems and to types of devices', () => {
    expect(offer('everflow', 21)).toMatchObject({ devices: ['ios', 'desktop'] });
    expect(offer('everflow', 22)).toMatchObject({
      devices: ['android', 'ios'],
      countries: alpha2Countries.filter((code) => code !== 'US'),
    });
    expect(offer('everflow', 23)).toMatchObject({ status: 'paused' });
  });

  it('keeps to the systems of versions, and is refused where a version names none', () => {
    expect(offer('everflow', 24)).toMatchObject({ status: 'active', devices: ['ios'] });
    expect(offer('everflow', 25)).toMatchObject({ status: 'active', devices: [] });
    expect(offer('everflow', 26)).toMatchObject({ status: 'active', devices: ['android'] });
    expect(rejects.filter(({ source }) => source === 'everflow')).toEqual([
      { source: 'everflow', id: '27', reason: 'bad_devices' },
      { source: 'everflow', id: '31', reason: 'bad_devices' },
      { source: 'everflow', id: '32', reason: 'bad_devices' },
    ]);
    expect(warnings['everflow']).toEqual({ os_versions: 8, other_rules: 1 });
  });

  it('knows the system of a version by the longest word that is one', () => {
    expect(offer('everflow', 29)).toMatchObject({ status: 'active', devices: ['android', 'ios', 'desktop'] });
    expect(offer('everflow', 30)).toMatchObject({ status: 'active', devices: ['desktop'] });
  });

  it('pays for further entries as events', () => {
    expect(offer('everflow', 21)).toMatchObject({
      payout: 2,
      events: ['Purchase Purchase 0.5'],
      destination_url: 'https://www.trk.example/DF/2TQJZ3/?sub1={click_id}',
    });
    // By them alone where the conversion itself pays nothing.
    expect(offer('everflow', 33)).toMatchObject({ payout: 0.5, events: ['Purchase Purchase 0.5'] });
  });
});

it('ayeT has its texts beside i18n, its systems, versions and type, and our click id in place of its macro', () => {
  expect(offer('ayet', 218592)).toMatchObject({
    title: 'Farm & Field',
    description: 'Install and open the app',
    devices: ['android'],
    android_min_os: '9',
    tracking_type: 'CPI',
    payout: 0.32,
    destination_url: 'https://www.ayet.example/s2s/pub/218592/1595?external_identifier={click_id}',
  });
  expect(warnings['ayet']).toEqual({ region_rules: 1 });
});

it('OGAds has our click id in its links, and words that nobody knows mean no place', () => {
  expect(offer('ogads', 9164)).toMatchObject({
    title: 'Quest & Co',
    countries: ['GB', 'US'],
    devices: ['ios'],
    destination_url: 'https://unlock.example/go/9164?aff_sub={click_id}',
  });
  expect(rejects.filter(({ source }) => source === 'ogads')).toEqual([
    { source: 'ogads', id: '9165', reason: 'bad_devices' },
  ]);
});
