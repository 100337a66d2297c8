import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { pullSources } from '../../pipelines/pull.ts';
import type { Dialect, VisitedLink } from '../../src/demo/simulator/dialect.ts';
import { dialects, SimulatedNetwork } from '../../src/demo/simulator/network.ts';
import { simulatedOffers } from '../../src/demo/simulator/offers.ts';
import { openTracker } from '../../src/demo/trial/tracker-access.ts';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { readSettings } from '../../src/kit/config/settings.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { terminal } from '../support/declared-network.ts';
import { PipelineUnderTest } from '../support/pipeline-under-test.ts';
import { slow } from '../support/slow.ts';

/** A network of the circle. */
interface Circle {
  connector: string;
  /** What follows `?token=…` in the address that it sends reports to, with its macros; absent where it lists conversions. */
  postback?: string;
  /** Settings of its postbacks, beside the token. */
  reports?: object;
  /** Parameter that is also named in `tracker.sources`, as operators had to before: the link has the click id once. */
  append?: string;
  /** Parameter of its links for the click id, where it lists no offers: they come by a file of the operator. */
  linkParameter?: string;
}

const circles: Circle[] = [
  { connector: 'adgem', postback: '&click_id={player_id}&transaction_id={transaction_id}&payout={payout}' },
  { connector: 'adgem_legacy', postback: '&click_id={player_id}&transaction_id={transaction_id}&payout={payout}' },
  { connector: 'affise' },
  { connector: 'awin', linkParameter: 'clickref' },
  {
    connector: 'ayet',
    append: 'external_identifier',
    postback: '&click_id={external_identifier}&transaction_id={transaction_id}&payout={payout_usd}',
  },
  {
    connector: 'bitlabs',
    postback: '&click_id=[%USER:UID%]&tx=[%TX%]&ref=[%REF%]&payout=[%VALUE:USD%]&hash=0',
    reports: {
      fields: { click_id: 'click_id', transaction_id: { at: ['ref', 'tx'] }, payout: 'payout' },
      reversal: { negative_payout: true },
    },
  },
  { connector: 'cake' },
  { connector: 'cj', linkParameter: 'sid' },
  { connector: 'everflow', append: 'sub1' },
  { connector: 'impact', linkParameter: 'subId1' },
  {
    connector: 'lootably',
    postback: '&click_id={userID}&transaction_id={transactionID}&event_id={goalID}&payout={revenue}&status={status}',
    reports: { statuses: { 1: 'credit', 0: 'chargeback' } },
  },
  {
    connector: 'notik',
    postback:
      '&user_id={user_id}&txn_id={txn_id}&rewarded_txn_id={rewarded_txn_id}&event_id={event_id}&payout={payout}',
    reports: {
      fields: {
        click_id: 'user_id',
        transaction_id: { at: ['rewarded_txn_id', 'txn_id'] },
        event_id: 'event_id',
        payout: 'payout',
      },
      reversal: { negative_payout: true },
    },
  },
  { connector: 'offer18', postback: '&click_id={aff_click_id}&transaction_id={tid}&payout={payout}' },
  { connector: 'ogads', postback: '&click_id={aff_sub}&payout={payout}' },
  {
    connector: 'prodege',
    postback: '&click_id={s1}&transaction_id={conversion_id}&payout={payout}&status={state}',
  },
  {
    connector: 'torox',
    postback: '&id={id}&oid={oid}&user_id={user_id}&payout={payout}&sig={sig}',
    reports: {
      signature: {
        scheme: 'md5',
        secret: 'a-key-of-the-circle',
        template: '{oid}-{user_id}-{secret}',
        parameter: 'sig',
      },
      parameters: { click_id: 'user_id', transaction_id: 'id', payout: 'payout' },
      reversal: { negative_payout: true },
    },
  },
  { connector: 'trackier', postback: '&click_id={p1}&transaction_id={txn_id}&payout={payout}' },
  { connector: 'tune', append: 'aff_sub' },
];

const key = 'a-key-of-the-circle';
const token = 'a-token-of-the-circle';
const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36' };

it('every network that has a dialect goes the circle', () => {
  expect(circles.map(({ connector }) => connector)).toEqual(Object.keys(dialects));
});

it('offers are pulled, a click carries our id, its conversion is credited to it', slow, async () => {
  await using networks = new AsyncDisposableStack();
  await using pipeline = await PipelineUnderTest.create(new Date(), {
    sites: [{ site_key: 'mine', site_secret: 'a secret of the circle' }],
    settings: {
      sources: { ogads: { mode: 'delta' } },
      tracker: {
        sources: Object.fromEntries(
          circles.flatMap(({ connector, append }) =>
            append === undefined ? [] : [[connector, { append_click_id: append }]],
          ),
        ),
      },
    },
  });
  const { data } = pipeline;
  const served = new Map<string, SimulatedNetwork>();
  for (const { connector, linkParameter } of circles) {
    // The second of them pays a fixed amount above zero in USD.
    const offers = simulatedOffers(2, dialects[connector]?.lacks).slice(1);
    const network = networks.use(await SimulatedNetwork.start(connector, { key, offers }));
    served.set(connector, network);
    if (linkParameter !== undefined)
      await landOffer(data, connector, `${network.url}/follow/1?${linkParameter}={click_id}`);
  }
  await configure(data, served);
  await pull(data);
  await pipeline.refresh(new Date().toISOString());
  const offers = await pipeline.ask<{ offer_id: number; source: string; payout: string }>(
    `SELECT offer_id, source, payout::VARCHAR AS payout FROM offers WHERE status = 'active' ORDER BY source`,
  );
  expect(offers.map(({ source }) => source)).toEqual(circles.map(({ connector }) => connector).toSorted());

  const tracker = await openTracker({
    data,
    settings: readSettings(data),
    log: pino({ level: 'silent' }),
    at: { host: undefined, port: undefined },
  });
  networks.defer(() => tracker.close());
  for (const { offer_id, source } of offers) {
    const network = served.get(source) as SimulatedNetwork;
    const link = `${tracker.address}/redirect/manual-offer/${offer_id}/user/u/site/mine`;
    const redirected = await fetch(link, { headers: browser, redirect: 'manual' });
    const location = redirected.headers.get('location') ?? '';
    expect([source, redirected.status, location.startsWith(network.url)]).toEqual([source, 302, true]);
    await fetch(location, { redirect: 'manual' });
    const click = network.clicks[0] as VisitedLink;
    expect([source, click.clickId]).toEqual([source, expect.stringMatching(/^[0-9a-z]{32}$/)]);
    expect([source, location.split(String(click.clickId)).length]).toEqual([source, 2]);
    const { postback } = circles.find(({ connector }) => connector === source) as Circle;
    if (postback !== undefined) network.postbackUrl = `${tracker.address}/postback/${source}?token=${token}${postback}`;
    // An amount of its own, that no catalog has.
    const answered = await network.convert(click, { id: `v-${source}`, payout: '1.25', at: wholeSecond() });
    expect([source, answered]).toEqual([source, postback === undefined ? undefined : 200]);
  }
  await tracker.handOver();
  await pull(data);
  await pipeline.refresh(new Date().toISOString());
  const credited = await pipeline.ask(
    `SELECT offers.source, conversions.status::VARCHAR AS status, conversions.payout::VARCHAR AS payout, conversions.user_id,
       stats.conversions::INTEGER AS conversions, stats.earnings::VARCHAR AS earnings
     FROM offers
     LEFT JOIN conversions USING (offer_id)
     LEFT JOIN offer_stats_2d AS stats USING (offer_id)
     ORDER BY offers.source`,
  );
  expect(credited).toEqual(
    offers.map(({ source }) => ({
      source,
      status: 'credited',
      payout: '1.250000',
      user_id: 'u',
      conversions: 1,
      earnings: '1.250000',
    })),
  );
});

async function configure(data: DataDirectory, served: ReadonlyMap<string, SimulatedNetwork>): Promise<void> {
  const sources = circles.map(({ connector, postback, reports }) => {
    const { secrets, currency, conversions } = dialects[connector] as Dialect;
    return {
      source: connector,
      connector,
      base_url: served.get(connector)?.url,
      secrets: secrets(key),
      currency,
      time_zone: conversions?.timeZone,
      ...(postback !== undefined && { postback: { token, ...reports } }),
    };
  });
  await writeFile(data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
}

/** An export of one offer, as an operator keeps it for a network whose offers are not listed. */
async function landOffer({ landing }: DataDirectory, source: string, destination_url: string): Promise<void> {
  await mkdir(join(landing, 'offers', source), { recursive: true });
  const offer = { external_id: '1', title: 'An offer', payout: '2', destination_url };
  await writeFile(join(landing, 'offers', source, 'offers.json'), JSON.stringify([offer]));
}

/** By a clock that only waits move: budgets of networks would be seconds. */
async function pull(data: DataDirectory): Promise<void> {
  let now = Date.now();
  const clock = {
    now: () => now++,
    steady: () => now,
    wait: async (ms: number) => void (now += ms),
    random: () => 0.5,
  };
  const pulled = await pullSources({ data, terminal }, realEffects, clock);
  expect(pulled.map(({ source, status, error }) => ({ source, status, error }))).toEqual(
    circles.map(({ connector }) => ({ source: connector, status: 'done', error: null })),
  );
}

function wholeSecond(): string {
  return `${new Date().toISOString().slice(0, 19)}Z`;
}
