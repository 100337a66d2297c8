import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, describe, it } from 'vitest';
import { pullSources } from '../../pipelines/pull.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { connectorNames } from '../../src/sources/connectors/connectors.ts';
import { PullLedger } from '../../src/sources/pull-ledger.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { parseSettings } from '../../src/kit/config/settings.ts';
import type { Dialect } from '../../src/demo/simulator/dialect.ts';
import { dialects, SimulatedNetwork, type Fault } from '../../src/demo/simulator/network.ts';
import { simulatedOffers, type SimulatedOffer } from '../../src/demo/simulator/offers.ts';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { launcher } from '../support/command-line.ts';
import { temporaryData } from '../support/published-snapshot.ts';
import { LogLanding } from '../support/log-landing.ts';
import { failingAfter } from '../support/failing-after.ts';
import { slow } from '../support/slow.ts';

const key = 'k3y/with+odd=characters';

/** For pulls that no refresh follows: no warehouse is needed. */
async function emptyData(): Promise<{ data: DataDirectory } & AsyncDisposable> {
  const { data, remove } = await temporaryData();
  return { data, [Symbol.asyncDispose]: remove };
}

/** A pull with a clock that only waits move. Gives what it came to, and all that it logged. */
async function pull(
  { data }: { data: DataDirectory },
  from = Date.parse('2026-11-20T10:00:00Z'),
  effects = realEffects,
) {
  let now = from;
  const log: string[] = [];
  const clock = {
    now: () => now++,
    steady: () => now,
    wait: async (milliseconds: number) => void (now += milliseconds),
    random: () => 0.5,
  };
  const terminal = { logger: createLogger({ write: (line: string) => Boolean(log.push(line)) }), progress: noProgress };
  const pulled = await pullSources({ data, terminal }, effects, clock);
  return { pulled, log: log.join(''), waited: now - from };
}

async function configure(
  { data }: { data: DataDirectory },
  connector: string,
  network: SimulatedNetwork,
): Promise<void> {
  const { secrets, currency, isDelta } = dialects[connector] as Dialect;
  const sources = [
    { source: 'north', connector, base_url: network.url, secrets: secrets(key), currency, pull: ['offers'] },
  ];
  await writeFile(data.sourcesFile, JSON.stringify({ sources }), { mode: 0o600 });
  if (isDelta === true) await writeFile(data.settingsFile, JSON.stringify({ sources: { north: { mode: 'delta' } } }));
}

/**
 * Number of offers that fill a page of the network and more, where it has pages: Everflow's have 2,000, CAKE's 250,
 * others' 500 or 1,000.
 */
function offersOf(connector: string): number {
  if (dialects[connector]?.isSinglePage === true) return 150;
  return { everflow: 4550, cake: 550 }[connector] ?? 1050;
}

const exports = async ({ data }: { data: DataDirectory }) =>
  (await readdir(join(data.landing, 'offers', 'north')).catch((): string[] => [])).toSorted();

/** What of the catalog must agree with the network, as both have it. */
function expectedOffers(offers: readonly SimulatedOffer[], { idOf }: Dialect) {
  return offers
    .filter(({ forbidsIncentives, pays }) => !forbidsIncentives && pays === 'flat')
    .map((offer) => ({ ...offer, external_id: idOf(offer) }))
    .map(({ external_id, title, description, payout, currency, countries, categories, dailyCap, isActive }) => ({
      external_id,
      title,
      description,
      payout_usd: Number(currency === 'EUR' ? (Number(payout) * 2).toFixed(2) : payout),
      countries,
      categories,
      daily_cap: dailyCap,
      status: isActive ? 'active' : 'paused',
    }));
}

const settings = parseSettings('{"rates": {"EUR": "2"}}', 'offerline.json');
const catalog = (landing: LogLanding) =>
  landing.query(
    `SELECT external_id, titles->>'en' AS title, descriptions->>'en' AS description, payout::DOUBLE AS payout_usd, countries, categories, daily_cap, status
     FROM offer_versions JOIN offers USING (offer_id) ORDER BY external_id`,
  );

/** How networks throttle is a matter of each; what can happen to any answer is tried on one that has pages. */
function ofTransport(connector: string): Fault['kind'][] {
  return connector === 'everflow'
    ? ['throttled', 'unavailable', 'html', 'cut_body', 'cut_gzip', 'control_character']
    : ['throttled'];
}

it('every connector of a network has a dialect, by which it is tried', () => {
  const networks = connectorNames.filter((name) => name !== 'http' && name !== 's3');
  expect(Object.keys(dialects)).toEqual(networks);
});

const ofOffers = Object.entries(dialects).filter(([, dialect]) => dialect.page !== undefined);

describe.for(ofOffers)('a network that speaks %s', ([connector, dialect]) => {
  const { lacks = {} } = dialect;
  const network = (count: number, faults: Fault[] = []) =>
    SimulatedNetwork.start(connector, { key, offers: simulatedOffers(count, lacks), faults });

  it('is pulled whole, and its catalog is what it holds; once more without news nothing is written', slow, async () => {
    await using landing = await LogLanding.create();
    const count = offersOf(connector);
    await using served = await network(count);
    await configure(landing, connector, served);
    const { pulled, log } = await pull(landing);
    expect(pulled).toMatchObject([
      { status: 'done', records: count, left_out: lacks.incentives ? {} : { forbids_incentives: count / 50 } },
    ]);
    const [file, ...others] = await exports(landing);
    expect(others).toEqual([]);
    await landing.ingest({ settings });
    expect(await catalog(landing)).toEqual(expectedOffers(served.offers, dialect));
    expect(await landing.query('SELECT DISTINCT reason FROM rejects')).toEqual(
      lacks.share === true ? [] : [{ reason: 'missing_payout' }],
    );
    expect((await pull(landing, Date.parse('2026-11-20T11:00:00Z'))).pulled).toMatchObject([
      { status: 'done', file: null },
    ]);
    expect(await exports(landing)).toEqual([file]);
    const written = await readFile(join(landing.data.landing, 'offers', 'north', file ?? ''), 'utf8');
    for (const secret of [key, encodeURIComponent(key), Buffer.from(key).toString('base64')])
      expect(written + log).not.toContain(secret);
  });

  it.for(ofTransport(connector))('is asked again after an answer that is %s', async (kind) => {
    await using landing = await emptyData();
    await using served = await network(60, [{ kind, request: 1 }]);
    await configure(landing, connector, served);
    const { pulled, log } = await pull(landing);
    expect(pulled).toMatchObject([{ status: 'done', records: 60 }]);
    expect(log).not.toContain(key);
  });

  it.for(['unauthorised', 'empty_object'] as const)(
    'leaves the last catalog as it is where its answers stay %s',
    async (kind) => {
      await using landing = await emptyData();
      await using served = await network(60);
      await configure(landing, connector, served);
      await pull(landing);
      const before = await exports(landing);
      served.offers = simulatedOffers(61, lacks);
      served.faults = [{ kind, times: 99 }];
      const { pulled } = await pull(landing, Date.parse('2026-11-20T11:00:00Z'));
      expect(pulled).toMatchObject([{ status: 'failed', file: null }]);
      expect(await exports(landing)).toEqual(before);
      using ledger = new PullLedger(landing.data);
      const { last, whole } = ledger.newest().get('north') ?? {};
      expect([last?.status, whole?.started_at]).toEqual(['failed', '2026-11-20T10:00:00Z']);
      expect(last?.error).not.toContain(key);
    },
  );
});

const ofPages = ofOffers.filter(([, { isSinglePage }]) => isSinglePage !== true);

describe.for(ofPages.filter(([, { lacks }]) => lacks?.total !== true))(
  'a list of %s that says how long it is',
  ([connector, dialect]) => {
    const network = (count: number, faults: Fault[] = []) =>
      SimulatedNetwork.start(connector, { key, offers: simulatedOffers(count, dialect.lacks), faults });

    it('is pulled once more where its total moved, and not at all where it keeps moving', slow, async () => {
      await using landing = await emptyData();
      const count = offersOf(connector);
      await using served = await network(count, [{ kind: 'moving_total', request: 2 }]);
      await configure(landing, connector, served);
      expect((await pull(landing)).pulled).toMatchObject([{ status: 'done', records: count }]);
      served.faults = [
        { kind: 'moving_total', request: served.requests.length + 2 },
        { kind: 'moving_total', request: served.requests.length + 4 },
      ];
      expect((await pull(landing)).pulled).toMatchObject([
        { status: 'failed', error: expect.stringContaining('first page') as string },
      ]);
    });
  },
);

describe.for(ofPages)('the pages of %s', ([connector, dialect]) => {
  const network = (count: number, faults: Fault[] = []) =>
    SimulatedNetwork.start(connector, { key, offers: simulatedOffers(count, dialect.lacks), faults });

  it('is found out where it does not look at the page that is asked for', async () => {
    await using landing = await emptyData();
    await using served = await network(offersOf(connector), [{ kind: 'ignored_page', times: 99_999 }]);
    await configure(landing, connector, served);
    expect((await pull(landing)).pulled).toMatchObject([
      { status: 'failed', error: expect.stringContaining('repeats an earlier one') as string },
    ]);
    expect(await exports(landing)).toEqual([]);
  });
});

it('CAKE is asked for the link of a campaign once, whatever becomes of the pull', async () => {
  await using landing = await emptyData();
  await using served = await SimulatedNetwork.start('cake', { key, offers: simulatedOffers(120) });
  await configure(landing, 'cake', served);
  const joined = served.offers.filter(({ isActive }) => isActive).length;
  const asked = () => served.requests.filter((request) => request.includes('/GetCampaign?')).length;
  served.faults = [{ kind: 'unauthorised', request: 72 }];
  expect((await pull(landing)).pulled).toMatchObject([{ status: 'failed' }]);
  expect(asked()).toBe(71);
  expect((await pull(landing)).pulled).toMatchObject([{ status: 'done', warnings: { no_link: 120 - joined } }]);
  expect((await pull(landing)).pulled).toMatchObject([{ status: 'done', file: null }]);
  // All that came before the 71st failed are kept.
  expect(asked()).toBe(71 + joined - 70);
});

it('CAKE’s campaigns whose links cannot be had are paused, and old links or those of another account are renewed', async () => {
  await using landing = await emptyData();
  await using served = await SimulatedNetwork.start('cake', { key, offers: simulatedOffers(120) });
  await configure(landing, 'cake', served);
  const joined = served.offers.filter(({ isActive }) => isActive).length;
  const asked = () => served.requests.filter((request) => request.includes('/GetCampaign?')).length;
  const noLink = 120 - joined;
  const broken = new Set<string>();
  served.onRequest = () => {
    const campaign = /campaign_id=(\w+)/.exec(served.requests.at(-1) ?? '')?.[1];
    served.faults =
      campaign !== undefined && (broken.has(campaign) || broken.has('all')) ? [{ kind: 'unavailable' }] : [];
  };
  const campaigns = served.offers.filter(({ isActive }) => isActive).map(({ id }) => id);
  for (const campaign of [campaigns[3], campaigns[30]]) broken.add(campaign ?? '');
  expect((await pull(landing)).pulled).toMatchObject([{ status: 'done', warnings: { no_link: noLink + 2 } }]);
  broken.clear();
  expect((await pull(landing)).pulled).toMatchObject([{ status: 'done', warnings: { no_link: noLink } }]);
  const before = asked();
  const later = Date.parse('2026-12-01T10:00:00Z');
  // An old link that the network fails on stays.
  broken.add(campaigns[40] ?? '');
  expect((await pull(landing, later)).pulled).toMatchObject([{ status: 'done', warnings: { no_link: noLink } }]);
  expect(asked()).toBe(before + joined + 4);
  broken.clear();
  const text = await readFile(landing.data.sourcesFile, 'utf8');
  await writeFile(landing.data.sourcesFile, text.replace('"77"', '"78"'));
  const { pulled } = await pull(landing, later + 3_600_000);
  expect(pulled).toMatchObject([{ status: 'done', warnings: { no_link: noLink } }]);
  expect(asked()).toBe(before + 2 * joined + 4);
  // A network that fails on all of them fails the pull.
  await writeFile(landing.data.sourcesFile, text.replace('"77"', '"79"'));
  broken.add('all');
  expect((await pull(landing, later + 7_200_000)).pulled).toMatchObject([{ status: 'failed' }]);
  expect(asked()).toBe(before + 2 * joined + 4 + 20 * 5);
});

it('CAKE’s catalog stays where the first links that are asked for are all refused, however few', async () => {
  await using landing = await emptyData();
  await using served = await SimulatedNetwork.start('cake', { key, offers: simulatedOffers(6) });
  await configure(landing, 'cake', served);
  served.onRequest = () => {
    served.faults = served.requests.at(-1)?.includes('/GetCampaign?') === true ? [{ kind: 'unavailable' }] : [];
  };
  expect((await pull(landing)).pulled).toMatchObject([
    { status: 'failed', file: null, error: expect.stringContaining('GetCampaign') as string },
  ]);
  expect(await exports(landing)).toEqual([]);
});

it('a key is nowhere but in sources.json, however a network echoes it', async () => {
  await using landing = await emptyData();
  // TUNE echoes it in each answer, and says it once more where it fails.
  await using served = await SimulatedNetwork.start('tune', { key, offers: simulatedOffers(60) });
  await configure(landing, 'tune', served);
  const said: unknown[] = [await pull(landing)];
  served.faults = [{ kind: 'unavailable', times: 99 }];
  said.push(await pull(landing, Date.parse('2026-11-20T11:00:00Z')));
  const files = (await readdir(landing.data.root, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name !== 'sources.json')
    .map((entry) => join(entry.parentPath, entry.name));
  expect(files.length).toBeGreaterThan(1);
  const texts = [JSON.stringify(said), ...(await Promise.all(files.map((file) => readFile(file, 'latin1'))))];
  const forms = [
    key,
    encodeURIComponent(key),
    Buffer.from(key).toString('base64'),
    Buffer.from(key).toString('base64url'),
  ];
  expect(texts.filter((text) => forms.some((form) => text.includes(form)))).toEqual([]);
});

describe('a pull that ends by force', () => {
  const started = (count: number) => SimulatedNetwork.start('everflow', { key, offers: simulatedOffers(count) });

  it.for([1, 2, 3])('while it waits for page %i leaves nothing, and the next one is whole', slow, async (page) => {
    await using landing = await emptyData();
    await using served = await started(4100);
    await configure(landing, 'everflow', served);
    const child = spawn(launcher.executable, [...launcher.words, 'sources', 'pull'], {
      env: { ...process.env, OFFERLINE_DATA: landing.data.root },
      stdio: 'ignore',
    });
    served.onRequest = () => served.requests.length === page && child.kill('SIGKILL');
    await once(child, 'exit');
    expect(child.signalCode).toBe('SIGKILL');
    expect(await exports(landing)).toEqual([]);
    served.onRequest = () => undefined;
    expect((await pull(landing)).pulled).toMatchObject([{ status: 'done', records: 4100 }]);
    expect(await exports(landing)).toHaveLength(1);
    using ledger = new PullLedger(landing.data);
    expect(ledger.newest().get('north')?.last.status).toBe('done');
  });

  it.for(['export: written', 'export: fsynced', 'export: renamed', 'export: folder synced'])(
    'right after "%s" doubles nothing',
    async (step) => {
      await using landing = await emptyData();
      await using served = await started(60);
      await configure(landing, 'everflow', served);
      expect((await pull(landing, undefined, failingAfter(step))).pulled).toMatchObject([{ status: 'failed' }]);
      const left = (await exports(landing)).filter((name) => !name.endsWith('.part'));
      await pull(landing, Date.parse('2026-11-20T11:00:00Z'));
      const whole = (await exports(landing)).filter((name) => !name.endsWith('.part'));
      expect(whole).toHaveLength(1);
      expect(left.filter((name) => !whole.includes(name))).toEqual([]);
    },
  );
});
