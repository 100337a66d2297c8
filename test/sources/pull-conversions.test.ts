import fc from 'fast-check';
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { pullSources } from '../../pipelines/pull.ts';
import type { DataDirectory } from '../../src/kit/config/data-directory.ts';
import { realEffects } from '../../src/kit/files/effects.ts';
import { createLogger } from '../../src/kit/logging/log.ts';
import { noProgress } from '../../src/kit/logging/progress.ts';
import { openPullDatabase } from '../../src/sources/pull-database.ts';
import { emittedAs } from '../../src/sources/conversions/emitted-id.ts';
import type { StoredEmitted } from '../../src/sources/conversions/emitted-store.ts';
import {
  linesFor,
  type ConversionLine,
  type ReadyConversion,
  type EmittedConversion,
} from '../../src/sources/conversions/emitted-conversions.ts';
import type { Dialect } from '../../src/demo/simulator/dialect.ts';
import { dialects, SimulatedNetwork } from '../../src/demo/simulator/network.ts';
import type { SimulatedConversion } from '../../src/demo/simulator/offers.ts';
import { click, LogLanding } from '../support/log-landing.ts';
import { failingAfter } from '../support/failing-after.ts';
import { dataWith, serve } from '../support/declared-network.ts';
import { slow } from '../support/slow.ts';

const key = 'a-key-of-conversions';
const terminal = { logger: createLogger({ write: () => true }, 'silent'), progress: noProgress };

async function pullAt(data: DataDirectory, moment: string, effects = realEffects, logger = terminal.logger) {
  let now = Date.parse(moment);
  const clock = {
    now: () => now++,
    steady: () => now,
    wait: async (ms: number) => void (now += ms),
    random: () => 0.5,
  };
  return pullSources({ data, terminal: { ...terminal, logger } }, effects, clock);
}

/** What the lines of a log come to: of each conversion id its payout where it is credited and not reversed. */
function credited(lines: readonly ConversionLine[]): Map<string, string | undefined> {
  const counts = new Map<string, string | undefined>();
  for (const { kind, conversion_id, payout } of lines) if (kind === 'credit') counts.set(conversion_id, payout);
  for (const { kind, conversion_id } of lines)
    if (kind === 'reject' || kind === 'chargeback') counts.delete(conversion_id);
  return counts;
}

describe('lines of a log that takes nothing back', () => {
  const state = fc.record({
    status: fc.constantFrom<ReadyConversion['status']>('approved', 'pending', 'rejected'),
    payout: fc.constantFrom('1', '1.5', '2'),
  });
  const conversionOf = (said: { status: ReadyConversion['status']; payout: string | null }): ReadyConversion => ({
    id: 'v',
    clickId: 'c',
    occurredAt: '2026-11-19T08:00:00Z',
    changedAt: '2026-11-20T08:00:00Z',
    reason: undefined,
    listed: said.payout === null ? null : `${said.payout} USD`,
    ...said,
  });

  it('come to what the network says last, whatever it said before and whatever of it was seen', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(state, fc.boolean()), { minLength: 1, maxLength: 8 }), (history) => {
        const seen = history
          .filter(([, isSeen], index) => isSeen || index === history.length - 1)
          .map(([said]) => said);
        const lines: ConversionLine[] = [];
        let emitted: EmittedConversion | undefined;
        for (const said of seen) {
          const news = linesFor(conversionOf(said), emitted);
          lines.push(...news.lines);
          emitted = news.emitted;
          // Listed again unchanged.
          expect(linesFor(conversionOf(said), emitted).lines).toEqual([]);
        }
        // What is pending again stays as it was emitted.
        const decided = seen.findLast(({ status }) => status !== 'pending');
        const expected = decided?.status === 'approved' ? [decided.payout] : [];
        expect([...credited(lines).values()]).toEqual(expected);
        // It is announced once, and before anything else.
        const announced = lines.findIndex(({ kind }) => kind === 'pending');
        expect(announced).toBe(seen[0]?.status === 'pending' ? 0 : -1);
        expect(new Set(lines.map(({ conversion_id, kind }) => `${kind} ${conversion_id}`)).size).toBe(lines.length);
      }),
    );
  });

  it('have ids that no two conversions share, whatever sources and ids are called and however often credited', () => {
    const text = (alphabet: string) =>
      fc
        .array(fc.constantFrom(...Array.from(alphabet)), { minLength: 1, maxLength: 4 })
        .map((characters) => characters.join(''));
    const listed = fc.record({ source: text('a1-._'), id: text('a1-~/2'), credits: fc.constantFrom(1, 2, 3) });
    fc.assert(
      fc.property(fc.array(listed, { minLength: 2, maxLength: 8 }), (conversions) => {
        const store = new Map<string, StoredEmitted>();
        const sources = [...new Set(conversions.map(({ source }) => source))];
        const owners = new Map<string, string>();
        for (const { source, id, credits } of [...conversions, ...conversions.toReversed()]) {
          const others = sources.filter((other) => other !== source);
          const emitted = emittedAs(source, id, others, store);
          for (let version = 1; version <= credits; version++) {
            const as = version === 1 ? emitted.id : `${emitted.id}~${version}`;
            const owner = JSON.stringify([source, id, version]);
            expect(owners.get(as) ?? owner).toBe(owner);
            owners.set(as, owner);
          }
          store.set(emitted.id, { version: credits, state: 'credited', payout: '1', listed: '1 USD', source });
        }
      }),
      {
        numRuns: 2000,
        // The sources of each list know each other; `/2` of the first was once the same as `2` of the second.
        examples: [
          [
            [
              { source: 'a.', id: '/2', credits: 1 },
              { source: 'a.-', id: '2', credits: 1 },
            ],
          ],
        ],
      },
    );
  });

  it('keep the ids that landing knows them by, but where another source’s conversion could be meant', () => {
    const none = new Map<string, StoredEmitted>();
    expect(emittedAs('net', '9f1c-77', ['other', 'net2'], none).id).toBe('net-9f1c-77');
    expect(emittedAs('net', '1-5', ['net-1'], none).id).toBe('net/1-5');
    expect(emittedAs('net-1', '5', ['net'], none).id).toBe('net-1-5');
    expect(emittedAs('net', '5~2', [], none).id).toBe('net/5~~2');
    expect(emittedAs('net', '1/5', ['net-1'], none).id).toBe('net/1/5');
    const emitted = { version: 1, state: 'credited', payout: '1', listed: '1 USD' } as const;
    const ofAnother = new Map([['net-1/5', { ...emitted, source: 'net' }]]);
    expect(emittedAs('net-1', '5', ['net'], ofAnother)).toEqual({ id: 'net-1-5', emitted: undefined });
    // An earlier version took a number's id as it was written.
    const asFraction = new Map([['net-5.0', { ...emitted, source: 'net' }]]);
    expect(emittedAs('net', '5', [], asFraction)).toMatchObject({ id: 'net-5.0', emitted });
    expect(emittedAs('net', '5', [], new Map([...asFraction, ['net-5', { ...emitted, source: 'net' }]])).id).toBe(
      'net-5',
    );
    const [long, known] = ['9'.repeat(150), '9'.repeat(123)];
    const digests = [long, 'é5', known].map((id) => emittedAs('n'.repeat(64), id, [], none).id);
    expect(digests.every((id) => /^n{64}\/~[0-9a-f]{48}$/.test(id))).toBe(true);
    const again = new Map([
      [`net-${long}`, { ...emitted, source: 'net' }],
      [`net-${known}`, { ...emitted, source: 'net' }],
    ]);
    // Landing refused the line of the first, and took that of the second.
    expect(emittedAs('net', long, [], again)).toMatchObject({ id: emittedAs('net', long, [], none).id });
    expect(emittedAs('net', long, [], again).emitted).toBeUndefined();
    expect(emittedAs('net', known, [], again)).toMatchObject({ id: `net-${known}`, emitted });
    // Emitted before the source net-1 existed.
    const own = new Map<string, StoredEmitted>([['net-1-5', { ...emitted, source: 'net' }]]);
    expect(emittedAs('net', '1-5', ['net-1'], own)).toMatchObject({ id: 'net-1-5', emitted });
    expect(emittedAs('net-1', '5', ['net'], own)).toEqual({ id: 'net-1/5', emitted: undefined });
  });

  it('say how much was rejected where it never was credited, since nothing else does', () => {
    const rejected = linesFor(conversionOf({ status: 'rejected', payout: '1.5' }), undefined);
    expect(rejected.lines).toMatchObject([{ kind: 'reject', payout: '1.5' }]);
    const ofMilestone = linesFor({ ...conversionOf({ status: 'rejected', payout: '1.5' }), eventId: 'e' }, undefined);
    expect(ofMilestone.lines).toMatchObject([{ kind: 'reject', payout: '1.5', event_id: 'e' }]);
    // Many networks set the amount of what they refuse to 0.
    const announced = linesFor(conversionOf({ status: 'pending', payout: '1.5' }), undefined);
    for (const payout of ['0', null]) {
      const refused = linesFor(conversionOf({ status: 'rejected', payout }), announced.emitted);
      expect(refused.lines).toMatchObject([{ kind: 'reject', payout: '1.5' }]);
    }
    const credit = linesFor(conversionOf({ status: 'approved', payout: '1.5' }), undefined);
    const taken = linesFor(conversionOf({ status: 'rejected', payout: '0' }), credit.emitted);
    expect(taken.lines.map(({ kind, payout }) => [kind, payout])).toEqual([['reject', undefined]]);
  });
});

const listing = Object.entries(dialects).filter(([, { conversions }]) => conversions !== undefined);

describe.for(listing.filter(([, { conversions }]) => conversions?.isFinal !== true))(
  'conversions that %s lists',
  ([connector, dialect]) => {
    it('are emitted as they change, and end in the network’s current state', slow, async () => {
      await using landing = await LogLanding.create();
      await using served = await SimulatedNetwork.start(connector, { key });
      await configure(landing.data, connector, dialect, served);
      await landing.put(
        'clicks/0.ndjson',
        Array.from({ length: 700 }, (_, index) => click(`c${index}`, { clicked_at: '2026-11-01T00:00:00Z' })),
      );
      const conversion = (index: number): SimulatedConversion => ({
        id: `v${index}`,
        clickId: index % 50 === 7 ? null : `c${index}`,
        status: index % 10 === 3 ? 'pending' : index % 10 === 4 ? 'rejected' : 'approved',
        payout: `${1 + (index % 5)}.25`,
        at: `2026-11-${String(2 + (index % 18)).padStart(2, '0')}T22:30:00Z`,
      });
      served.conversions = Array.from({ length: 700 }, (_, index) => conversion(index));
      expect(await pullAt(landing.data, '2026-11-20T12:00:00Z')).toMatchObject([
        { status: 'done', conversions: 700, conversions_left_out: { no_click: 14 } },
      ]);
      await landing.ingest({ asOf: '2026-11-20T16:00:00Z' });
      // Reversed, credited after all, at another amount, and a new one.
      const changes: Record<number, Partial<SimulatedConversion>> = {
        0: { status: 'rejected' },
        1: { payout: '9.75' },
        3: { status: 'approved' },
        4: { status: 'approved' },
      };
      const changed = served.conversions.map((each, index) => ({ ...each, ...changes[index] }));
      served.conversions = [...changed, { ...conversion(5), id: 'late', clickId: 'c699' }];
      expect(await pullAt(landing.data, '2026-11-20T13:00:00Z')).toMatchObject([
        { status: 'done', conversion_lines: 6 },
      ]);
      served.conversions = served.conversions.map((each) =>
        each.id === 'v0' ? { ...each, status: 'approved' } : each,
      );
      await pullAt(landing.data, '2026-11-20T14:00:00Z');
      expect(await pullAt(landing.data, '2026-11-20T15:00:00Z')).toMatchObject([
        { status: 'done', conversion_lines: 0 },
      ]);
      await landing.ingest({ asOf: '2026-11-20T16:00:00Z' });
      const events = await landing.query<ConversionLine>(
        `SELECT conversion_id, kind, click_id, payout::DOUBLE AS payout, strftime(timezone('UTC', occurred_at), '%Y-%m-%dT%H:%M:%SZ') AS occurred_at FROM conversion_events`,
      );
      const truth = served.conversions.filter(({ status, clickId }) => status === 'approved' && clickId !== null);
      const counted = events.filter(
        ({ kind, conversion_id }) => kind === 'credit' && credited(events).has(conversion_id),
      );
      const byClick = (rows: readonly { click_id: string; payout: number; at: string }[]) =>
        rows.toSorted((one, other) => one.click_id.localeCompare(other.click_id) || one.payout - other.payout);
      expect(
        byClick(
          counted.map(({ click_id, payout, occurred_at }) => ({ click_id, payout: Number(payout), at: occurred_at })),
        ),
      ).toEqual(
        byClick(truth.map(({ clickId, payout, at }) => ({ click_id: clickId ?? '', payout: Number(payout), at }))),
      );
      expect(await landing.query('SELECT sum(rejected) AS rejected FROM ingest_files')).toEqual([{ rejected: 0 }]);
    });
  },
);

it.each([
  ['net-1', 'net'],
  ['net', 'net-1'],
])('conversions of two sources whose names and ids run together are two, %s first', async (first, second) => {
  await using landing = await LogLanding.create();
  const [[connector, dialect]] = listing as [[string, Dialect]];
  const ids: Record<string, string> = { 'net-1': '5', net: '1-5' };
  const payouts: Record<string, string> = { 'net-1': '2.25', net: '9.50' };
  await using one = await SimulatedNetwork.start(connector, { key });
  await using other = await SimulatedNetwork.start(connector, { key });
  const networks: [string, SimulatedNetwork][] = [
    [first, one],
    [second, other],
  ];
  for (const [source, network] of networks) {
    const at = '2026-11-18T22:30:00Z';
    const conversion = { id: ids[source] as string, clickId: `c-${source}`, payout: payouts[source] as string, at };
    network.conversions = [{ ...conversion, status: 'approved' }];
  }
  const [entryOne, entryOther] = networks.map(([source, network]) => ({
    ...entryOf(connector, dialect, network),
    source,
  }));
  await writeFile(landing.data.sourcesFile, JSON.stringify({ sources: [entryOne, entryOther] }), { mode: 0o600 });
  for (const hour of ['12', '13']) {
    const reversed = hour === '13';
    if (reversed) other.conversions = other.conversions.map((each) => ({ ...each, status: 'rejected' }));
    await pullAt(landing.data, `2026-11-20T${hour}:00:00Z`);
  }
  await landing.ingest({ asOf: '2026-11-20T16:00:00Z' });
  const rows = await landing.query<{ row: string }>(
    `SELECT click_id || ' ' || kind || coalesce(' ' || payout::DECIMAL(9, 2), '') AS row FROM conversion_events ORDER BY row`,
  );
  expect(rows.map(({ row }) => row)).toEqual(
    [`c-${first} credit ${payouts[first]}`, `c-${second} credit ${payouts[second]}`, `c-${second} reject`].toSorted(),
  );
});

it('conversions in another currency stay as they were credited where only its rate changes', async () => {
  await using landing = await LogLanding.create();
  const [[connector, dialect]] = listing as [[string, Dialect]];
  await using network = await SimulatedNetwork.start(connector, { key });
  const source = { ...entryOf(connector, dialect, network), currency: 'EUR' };
  await writeFile(landing.data.sourcesFile, JSON.stringify({ sources: [source] }), { mode: 0o600 });
  const listed = { id: 'v1', clickId: 'c1', status: 'approved', payout: '5.00', at: '2026-11-18T22:30:00Z' } as const;
  const pulled = async (hour: number, EUR: string, payout: string) => {
    network.conversions = [{ ...listed, payout }];
    await writeFile(landing.data.settingsFile, JSON.stringify({ rates: { EUR } }));
    return (await pullAt(landing.data, `2026-11-20T${hour}:00:00Z`))[0]?.conversion_lines;
  };
  expect(await pulled(12, '1.08', '5.00')).toBe(1);
  expect(await pulled(13, '1.09', '5')).toBe(0);
  // An amount of a pull before amounts were noted is compared as it was converted, and noted then.
  using database = openPullDatabase(landing.data);
  database.exec('UPDATE told_conversions SET listed = NULL');
  expect(await pulled(14, '1.08', '5.00')).toBe(0);
  expect(await pulled(15, '1.09', '5.00')).toBe(0);
  expect(await pulled(16, '1.09', '6.00')).toBe(2);
});

it.for(['export: written', 'export: fsynced', 'conversions: emitted', 'export: renamed', 'export: folder synced'])(
  'a pull that ends right after "%s" leaves to the next one what the network says by then',
  async (step) => {
    await using landing = await LogLanding.create();
    const [[connector, dialect]] = listing as [[string, Dialect]];
    await using network = await SimulatedNetwork.start(connector, { key });
    await configure(landing.data, connector, dialect, network);
    await landing.put('clicks/0.ndjson', [click('c1', { clicked_at: '2026-11-01T00:00:00Z' })]);
    const first = { id: 'v1', clickId: 'c1', status: 'approved', payout: '5.00', at: '2026-11-18T22:30:00Z' } as const;
    network.conversions = [first];
    expect(await pullAt(landing.data, '2026-11-20T12:00:00Z', failingAfter(step))).toMatchObject([
      { status: 'failed' },
    ]);
    await landing.ingest({ asOf: '2026-11-20T16:00:00Z' });
    network.conversions = [{ ...first, payout: '6.00' }];
    expect(await pullAt(landing.data, '2026-11-20T13:00:00Z')).toMatchObject([{ status: 'done' }]);
    await landing.ingest({ asOf: '2026-11-20T16:00:00Z' });
    const events = await landing.query<ConversionLine>(
      `SELECT conversion_id, kind, payout::DECIMAL(9, 2)::VARCHAR AS payout FROM conversion_events`,
    );
    expect([...credited(events).values()]).toEqual(['6.00']);
    expect(await landing.query('SELECT sum(conflicts) AS conflicts FROM ingest_files')).toEqual([{ conflicts: 0 }]);
  },
);

it('conversions of a source are pulled although its offers are not, and both failures are named', async () => {
  const fields = { offers: { external_id: 'id' }, conversions: { conversion_id: 'id', click_id: 'c' } };
  const answers: Record<string, object> = {
    '/offers': { message: 'maintenance' },
    '/conversions': { items: [{ id: 'v1', c: 'c1', s: 'approved', t: '2026-11-18T22:30:00Z', p: '2' }] },
  };
  const base_url = await serve(({ pathname }) => JSON.stringify(answers[pathname]));
  const source = {
    source: 'north',
    connector: 'http',
    base_url,
    offers: { path: '/offers', records: 'items', fields: fields.offers },
    conversions: {
      path: '/conversions',
      query: { from: '{from}', to: '{to}' },
      records: 'items',
      fields: {
        ...fields.conversions,
        status: { at: 's', words: { approved: 'credit' } },
        occurred_at: 't',
        payout: 'p',
        currency: { value: 'USD' },
      },
    },
  };
  const data = await dataWith(source);
  const noList = 'the answer has no "items", the place of the records';
  const noOffers = `${noList}; it says "maintenance"`;
  const [first] = await pullAt(data, '2026-11-20T12:00:00Z');
  expect(first).toMatchObject({ status: 'failed', error: noOffers, conversions: 1, conversion_lines: 1 });
  answers['/conversions'] = {};
  const [second] = await pullAt(data, '2026-11-20T13:00:00Z');
  expect(second).toMatchObject({ status: 'failed', error: `offers: ${noOffers}; conversions: ${noList}` });
  // Neither does a source that is said to be of another mode.
  answers['/conversions'] = { items: [] };
  await writeFile(data.settingsFile, JSON.stringify({ sources: { north: { mode: 'delta' } } }));
  const [third] = await pullAt(data, '2026-11-20T14:00:00Z');
  expect(third).toMatchObject({ status: 'failed', error: expect.stringContaining('"mode"') as string, conversions: 0 });
  // Of offers without conversions the log says that they are there.
  await writeFile(data.settingsFile, '{}');
  answers['/offers'] = { items: [{ id: 'o1' }] };
  answers['/conversions'] = {};
  let log = '';
  const logger = createLogger({ write: (line: string) => Boolean((log += line)) });
  const [fourth] = await pullAt(data, '2026-11-20T15:00:00Z', realEffects, logger);
  expect(fourth).toMatchObject({ status: 'failed', file: expect.any(String) as string, error: noList });
  expect(log).toContain(`not pulled whole, its offers landed and its conversions are not complete: the answer has no`);
});

describe('a list of conversions that grows between its pages', () => {
  /** Newest first, two to a page; `grown` have come by a page. */
  const growing = async (grown: (page: number) => number, own: object = {}) => {
    const base_url = await serve(({ searchParams }) => {
      const page = Number(searchParams.get('page'));
      const total = 4 + grown(page);
      const all = Array.from({ length: total }, (_, index) => total - index);
      const items = all.slice((page - 1) * 2, page * 2).map((id) => ({ id, of: id, is: true }));
      return JSON.stringify({ items, total });
    });
    const fields = { conversion_id: 'id', click_id: 'id', status: { value: 'credit' }, payout: { value: '1' } };
    const conversions = {
      query: { page: '{page}' },
      paging: { kind: 'page', size: 2, total: 'total' },
      records: 'items',
      fields: { ...fields, occurred_at: { value: '2026-11-19T00:00:00Z' }, currency: { value: 'USD' } },
      ...own,
    };
    const data = await dataWith({ source: 'north', connector: 'http', base_url, conversions });
    const [pulled] = await pullAt(data, '2026-11-20T12:00:00Z');
    return pulled;
  };

  it.each([
    ['once', (page: number) => (page === 1 ? 0 : 1)],
    ['with each page', (page: number) => page - 1],
  ])('%s is pulled as it was at the first', async (_how, grown) => {
    expect(await growing(grown)).toMatchObject({ status: 'done', error: null, conversions: 4, conversion_lines: 4 });
  });

  const corrections = { of: 'of', rows: { at: 'is', is: false } };
  it.each<[how: string, grown: (page: number) => number, own: object, error: string]>([
    ['shrinks', (page) => 1 - page, {}, '4 records on its first page and 3 on page 2'],
    ['grows and shrinks', (page) => [0, 1, 0][page - 1] ?? 0, {}, '5 records on a page before and 4 on page 3'],
    ['has corrections', (page) => page - 1, { corrections }, '4 records on its first page and 5 on page 2'],
  ])('fails where it %s', async (_how, grown, own, error) => {
    expect(await growing(grown, own)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining(error) as string,
    });
  });
});

it('a list of 150,000 conversions with corrections is pulled', slow, async () => {
  const size = 75_000;
  const base_url = await serve(({ searchParams }) => {
    const first = (Number(searchParams.get('page')) - 1) * size;
    const items = Array.from({ length: size }, (_, index) => ({ id: first + index, of: first + index, is: true }));
    return JSON.stringify({ items, total: 2 * size });
  });
  const fields = { conversion_id: 'id', click_id: 'id', status: { value: 'credit' }, payout: { value: '1' } };
  const conversions = {
    query: { page: '{page}' },
    paging: { kind: 'page', size, total: 'total' },
    records: 'items',
    corrections: { of: 'of', rows: { at: 'is', is: false } },
    fields: { ...fields, occurred_at: { value: '2026-11-19T00:00:00Z' }, currency: { value: 'USD' } },
  };
  const data = await dataWith({ source: 'north', connector: 'http', base_url, conversions });
  const [pulled] = await pullAt(data, '2026-11-20T12:00:00Z');
  expect(pulled).toMatchObject({ status: 'done', error: null, conversions: 150_000, conversion_lines: 150_000 });
});

async function configure(data: DataDirectory, connector: string, dialect: Dialect, network: SimulatedNetwork) {
  const source = entryOf(connector, dialect, network);
  await writeFile(data.sourcesFile, JSON.stringify({ sources: [source] }), { mode: 0o600 });
}

function entryOf(connector: string, dialect: Dialect, network: SimulatedNetwork) {
  return {
    source: 'north',
    connector,
    base_url: network.url,
    secrets: dialect.secrets(key),
    pull: ['conversions'],
    time_zone: dialect.conversions?.timeZone,
  };
}
