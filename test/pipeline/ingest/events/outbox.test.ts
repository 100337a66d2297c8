import fc from 'fast-check';
import { expect, test } from 'vitest';
import { siteSchema } from '../../../../src/kit/sites/sites.ts';
import { LogLanding } from '../../../support/log-landing.ts';
import { slow } from '../../../support/slow.ts';

// Refused before anything is sent.
const url = 'http://127.0.0.1/postback';
const site = {
  site_key: 'wall',
  site_secret: 'a secret of the test suite',
  commission: 0.2,
  reward_rate: 100,
  postback: { url },
};
const offer = { external_id: 'one', id: 17, title: 'One', payout: '1.50' };
const click = { click_id: 'c-1', offer_id: 17, site_key: 'wall', user_id: 'u-1', clicked_at: '2026-11-18T09:00:00Z' };
const credit = { conversion_id: 'v-1', click_id: 'c-1', kind: 'credit', occurred_at: '2026-11-18T10:00:00Z' };
const later = (kind: string, time: string, more: object = {}) => ({
  ...credit,
  kind,
  occurred_at: `2026-11-18T${time}Z`,
  ...more,
});

interface Written {
  conversion_id: string;
  kind: string;
  reward: string;
  enqueued_at: string;
  webhook_id: string;
}

/** Lands and ingests step by step; at a time of its own each, an hour apart from 11:00. */
class Steps implements AsyncDisposable {
  readonly #landing: LogLanding;
  #sites: readonly object[];
  #hour = 11;

  private constructor(landing: LogLanding, sites: readonly object[]) {
    this.#landing = landing;
    this.#sites = sites;
  }

  static async begin(sites: readonly object[] = [site], offers: readonly object[] = [offer]): Promise<Steps> {
    const landing = await LogLanding.create();
    if (offers.length > 0) await landing.put('offers/net/first.ndjson', offers);
    return new Steps(landing, sites);
  }

  async next(landed: {
    clicks?: readonly object[];
    conversions?: readonly object[];
    offers?: readonly object[];
    sites?: readonly object[];
  }): Promise<Written[]> {
    const hour = this.#hour++;
    this.#sites = landed.sites ?? this.#sites;
    const { offers, clicks, conversions } = landed;
    for (const [folder, rows] of Object.entries({ 'offers/net': offers, clicks, conversions }))
      if (rows) await this.#landing.put(`${folder}/${hour}.ndjson`, rows);
    const sites = this.#sites.map((each) => siteSchema.parse(each));
    await this.#landing.ingest({ asOf: `2026-11-18T${hour}:00:00Z`, wallClock: '2026-11-18T23:00:00Z' }, { sites });
    return this.#landing.query<Written>(
      'SELECT conversion_id, kind, reward, enqueued_at, webhook_id FROM outbox ORDER BY enqueued_at, occurred_at, kind',
    );
  }

  async further(): Promise<string[]> {
    const rows = await this.#landing.query<{ further: string }>('SELECT further FROM outbox ORDER BY number');
    return rows.map(({ further }) => further);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#landing[Symbol.asyncDispose]();
  }
}

const inShort = (written: readonly Written[]) =>
  written.map(
    ({ conversion_id, kind, reward, enqueued_at }) => `${conversion_id} ${kind} ${reward} ${enqueued_at.slice(11, 13)}`,
  );

test('a credit is sent once, with the reward of that time, whatever lands again', async () => {
  await using steps = await Steps.begin();
  const first = await steps.next({ clicks: [click], conversions: [credit] });
  expect(inShort(first)).toEqual(['v-1 credit 120.0000 11']);
  expect(first[0]).toMatchObject({ webhook_id: expect.stringMatching(/^pb_[0-9a-f]{32}$/) });
  const more = await steps.next({
    clicks: [click],
    conversions: [credit, { ...credit, payout: '9' }],
    sites: [{ ...site, commission: 0.5 }],
  });
  expect(more).toEqual(first);
});

test('a chargeback carries what its credit carried, even after the commission changed', async () => {
  await using steps = await Steps.begin();
  await steps.next({ clicks: [click], conversions: [credit] });
  const written = await steps.next({
    conversions: [later('chargeback', '10:30:00', { payout: '0.10' })],
    sites: [{ ...site, commission: 0.9 }],
  });
  expect(inShort(written)).toEqual(['v-1 credit 120.0000 11', 'v-1 chargeback 120.0000 12']);
});

test('an announced conversion is sent once to sites that ask for it, with its reward', slow, async () => {
  const asking = { ...site, postback: { url, pending: true } };
  const pending = { ...credit, kind: 'pending', payout: '2' };
  const of = (id: string, row: object) => ({ ...row, conversion_id: id });
  const waits = { ...pending, click_id: 'c-2' };
  await using steps = await Steps.begin([asking]);
  // Announced and credited at once: only the credit is news.
  const first = await steps.next({
    clicks: [click],
    conversions: [pending, of('v-2', pending), of('v-2', credit), of('v-3', waits), of('v-4', waits)],
  });
  expect(inShort(first)).toEqual(['v-2 credit 120.0000 11', 'v-1 pending 160.0000 11']);
  const second = await steps.next({
    clicks: [{ ...click, click_id: 'c-2' }],
    conversions: [credit, of('v-4', { ...waits, kind: 'reject', reason: 'no install' })],
    sites: [{ ...asking, commission: 0.5 }],
  });
  expect(inShort(second.slice(2))).toEqual([
    'v-1 credit 75.0000 12',
    'v-3 pending 100.0000 12',
    'v-4 reject 100.0000 12',
  ]);
  expect(await steps.next({ conversions: [{ ...pending, payout: '3' }] })).toEqual(second);
  await using quiet = await Steps.begin();
  expect(await quiet.next({ clicks: [click], conversions: [pending] })).toEqual([]);
  expect(await quiet.next({ sites: [asking] })).toEqual([]);
  expect(inShort(await quiet.next({ conversions: [credit] }))).toEqual(['v-1 credit 120.0000 13']);
});

test('what was announced more than 90 days ago is not sent any more', async () => {
  await using steps = await Steps.begin([{ ...site, postback: { url, pending: true } }]);
  const announced = (id: string, occurred_at: string) => ({
    ...credit,
    conversion_id: id,
    kind: 'pending',
    occurred_at,
  });
  const written = await steps.next({
    clicks: [click],
    conversions: [announced('v-1', '2026-08-20T11:00:00Z'), announced('v-2', '2026-08-20T11:00:01Z')],
  });
  expect(inShort(written)).toEqual(['v-2 pending 120.0000 11']);
});

test("without a credit, a reject carries its own amount, else the catalog's at its time", async () => {
  await using steps = await Steps.begin();
  const written = await steps.next({
    clicks: [click, { ...click, click_id: 'c-2' }],
    conversions: [
      later('reject', '10:00:00', { payout: '0.5' }),
      later('reject', '10:00:01', { conversion_id: 'v-2', click_id: 'c-2' }),
    ],
  });
  expect(inShort(written)).toEqual(['v-1 reject 40.0000 11', 'v-2 reject 120.0000 11']);
});

test('an event that lacks its click or offer is sent by the run that brings it', slow, async () => {
  const many = { ...offer, events: [{ event_id: 'level-5', description: 'Level 5', payout: '1' }] };
  await using steps = await Steps.begin([site], []);
  expect(
    await steps.next({
      conversions: [credit, later('credit', '10:05:00', { conversion_id: 'v-2', event_id: 'level-5' })],
    }),
  ).toEqual([]);
  expect(await steps.next({ clicks: [click] })).toEqual([]);
  expect(inShort(await steps.next({ offers: [offer] }))).toEqual(['v-1 credit 120.0000 13']);
  expect(inShort(await steps.next({ offers: [many] }))).toEqual(['v-1 credit 120.0000 13']);
});

test('an event stamped ahead waits for its time, without further news', async () => {
  await using steps = await Steps.begin();
  expect(await steps.next({ clicks: [click], conversions: [later('credit', '11:30:00')] })).toEqual([]);
  expect(inShort(await steps.next({}))).toEqual(['v-1 credit 120.0000 12']);
});

test('a site without an address is sent nothing of the past; one that is unknown for a while loses nothing', async () => {
  await using steps = await Steps.begin([{ ...site, postback: undefined }]);
  const elsewhere = { ...click, click_id: 'c-2', site_key: 'new' };
  expect(
    await steps.next({
      clicks: [click, elsewhere],
      conversions: [credit, { ...credit, conversion_id: 'v-2', click_id: 'c-2' }],
    }),
  ).toEqual([]);
  expect(inShort(await steps.next({ sites: [site, { ...site, site_key: 'new' }] }))).toEqual([
    'v-2 credit 120.0000 12',
  ]);
});

test('rewards are exact and rounded once, half away from zero', async () => {
  const micro = (units: bigint) => `${units / 1_000_000n}.${String(units % 1_000_000n).padStart(6, '0')}`;
  const cases = fc.sample(
    fc.record({
      payout: fc.oneof(fc.bigInt(0n, 99_999n), fc.bigInt(0n, 999_999_999_999_999n)),
      commission: fc.integer({ min: 0, max: 1_000_000 }),
      rate: fc.oneof(fc.constantFrom(1_000_000, 500_000, 100_000_000), fc.integer({ min: 1, max: 2_000_000_000 })),
    }),
    { numRuns: 60, seed: 20261121 },
  );
  await using steps = await Steps.begin(
    cases.map(({ commission, rate }, index) => ({
      ...site,
      site_key: `s${index}`,
      commission: commission / 1e6,
      reward_rate: rate / 1e6,
    })),
  );
  const written = await steps.next({
    clicks: cases.map((_, index) => ({ ...click, click_id: `c${index}`, site_key: `s${index}` })),
    conversions: cases.map(({ payout }, index) => ({
      ...credit,
      conversion_id: `v${index}`,
      click_id: `c${index}`,
      payout: micro(payout),
    })),
  });
  const expected = cases.map(({ payout, commission, rate }, index) => {
    const scaled = payout * BigInt(1_000_000 - commission) * BigInt(rate);
    const rounded = (2n * scaled + 10n ** 14n) / (2n * 10n ** 14n);
    return [`v${index}`, `${rounded / 10_000n}.${String(rounded % 10_000n).padStart(4, '0')}`];
  });
  expect(new Map(written.map(({ conversion_id, reward }) => [conversion_id, reward]))).toEqual(
    new Map(expected as [string, string][]),
  );
});

test('what a site may ask for beside the signed fields is frozen with the reward, of a reversal that of its credit', async () => {
  await using steps = await Steps.begin();
  await steps.next({
    clicks: [{ ...click, sub1: 'a "b"', sub2: 'ü' }],
    conversions: [{ ...credit, payout: '1.00005' }],
  });
  await steps.next({
    sites: [{ ...site, commission: 0.5 }],
    conversions: [later('chargeback', '12:00:00', { reason: 'fraud', payout: '9' })],
  });
  expect((await steps.further()).map((text) => JSON.parse(text))).toEqual([
    { sub1: 'a "b"', sub2: 'ü', payout: '0.8' },
    { sub1: 'a "b"', sub2: 'ü', payout: '0.8', reason: 'fraud' },
  ]);
});

test('a reward goes by the commission of the offer, else of its source, when it is written; a paused site gets it, too', async () => {
  const other = { ...offer, external_id: 'two', id: 18 };
  const paused = {
    ...site,
    status: 'paused',
    commissions: [
      { source: 'net', commission: 0.5 },
      { offer: 17, commission: 0.1 },
    ],
  };
  await using steps = await Steps.begin([paused], [offer, other]);
  const written = await steps.next({
    clicks: [click, { ...click, click_id: 'c-2', offer_id: 18 }],
    conversions: [credit, { ...credit, conversion_id: 'v-2', click_id: 'c-2' }],
  });
  expect(inShort(written)).toEqual(['v-1 credit 135.0000 11', 'v-2 credit 75.0000 11']);
  // What was credited at one commission is taken back at it.
  const after = await steps.next({ sites: [site], conversions: [later('chargeback', '11:00:00')] });
  expect(inShort(after)).toContain('v-1 chargeback 135.0000 12');
});
