import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { checkSources, type CheckedSource } from '../../pipelines/check-sources.ts';
import type { Dialect } from '../../src/demo/simulator/dialect.ts';
import { dialects, SimulatedNetwork } from '../../src/demo/simulator/network.ts';
import { simulatedOffers } from '../../src/demo/simulator/offers.ts';
import { sampledText } from '../../src/cli/sampled-text.ts';
import type { SampledPages } from '../../pipelines/samples/sample-pages.ts';
import type { SampledRecord } from '../../pipelines/samples/sampled-record.ts';
import { dataWith, serve, terminal } from '../support/declared-network.ts';
import { answered } from '../support/new-source.ts';

const key = 'k3y/with+odd=characters';
let now = Date.parse('2026-11-20T10:00:00Z');
/** A clock that only waits move: a network's budget is waited for. */
const clock = {
  now: () => now,
  steady: () => now,
  wait: async (milliseconds: number) => void (now += milliseconds),
  random: () => 0.5,
};

async function sampleOf(source: object, sample: number, settings = '{"rates": {"EUR": "2"}}'): Promise<CheckedSource> {
  const data = await dataWith({ source: 'north', ...source });
  await writeFile(data.settingsFile, settings);
  const [checked] = await checkSources({ data, terminal, sample }, clock);
  return checked as CheckedSource;
}

/** Those of the fields that are there are made of places, and none of them of another one's. */
function expectOwnPlaces(fields: SampledRecord['fields'], names: readonly string[]) {
  const places: string[] = [];
  for (const { field, from } of fields.filter((each) => names.includes(each.field))) {
    expect(from, field).not.toEqual([]);
    places.push(...from.map(({ place }) => place));
  }
  expect(places).toEqual([...new Set(places)]);
}

describe.for(Object.entries(dialects))('a page of %s', ([connector, dialect]) => {
  it('is shown beside what it becomes: the fields of each offer, and where they stand', async () => {
    const offers = dialect.page === undefined ? [] : simulatedOffers(30, dialect.lacks);
    await using network = await SimulatedNetwork.start(connector, { key, offers });
    const { secrets, currency, conversions } = dialect;
    const at = '2026-11-19T08:00:00Z';
    network.conversions = [
      { id: 'c1', clickId: 'k1', status: 'approved', payout: '1.50', at },
      { id: 'c2', clickId: null, status: 'approved', payout: '1.50', at },
    ];
    const checked = await sampleOf(
      {
        connector,
        base_url: network.url,
        secrets: secrets(key),
        currency,
        time_zone: conversions?.timeZone ?? 'UTC',
      },
      30,
    );
    const { offers: sampled, conversions: listed } = checked.sampled as SampledPages;
    const wanted = offers.filter(({ forbidsIncentives, pays }) => !forbidsIncentives && pays === 'flat');
    const taken = sampled?.sample.filter(({ becomes }) => becomes === 'offer') ?? [];
    expect(taken.map(({ id }) => id)).toEqual(wanted.map((offer) => dialect.idOf(offer)));
    for (const { fields } of taken) expectOwnPlaces(fields, ['external_id', 'title', 'payout']);
    for (const { fields } of listed?.sample ?? [])
      expectOwnPlaces(fields, ['conversion_id', 'status', 'occurred_at', 'payout']);
    const others = sampled?.sample.filter(({ becomes }) => becomes !== 'offer') ?? [];
    expect(others.every(({ reason, cure }) => reason !== null && cure !== null)).toBe(true);
    const expected = {
      records: 2,
      left_out: [{ reason: 'no_click', records: 1 }],
      sample: [
        { id: expect.stringMatching(/c1$/) as string, becomes: 'conversion' },
        { becomes: 'left_out', reason: 'no_click' },
      ],
    };
    // Some networks list no conversions.
    expect([listed]).toMatchObject([conversions === undefined ? undefined : expected]);
    expect(JSON.stringify(checked)).not.toContain(key);
  });
});

const declared = (fields: object) => ({
  connector: 'http',
  secrets: { key: 'hidden-key' },
  offers: { headers: { 'X-Key': '{key}' }, fields },
});

it('rejects are counted by reason over the whole page, each with its cure; secrets are nowhere', async () => {
  const link = 'https://t.example/?k=•••&c={click_id}';
  const base_url = await serve(() =>
    JSON.stringify([
      { id: 1, name: 'Castle', pays: '1.20', cur: 'EUR', to: 'https://t.example/?k=hidden-key&c={click_id}' },
      { id: 2, name: 'Bingo', cur: 'USD' },
      { id: 3, name: 'Farm', pays: '2', cur: 'GBP', geo: ['Atlantis'] },
      { id: 4, name: 'Trivia', cur: 'USD' },
    ]),
  );
  const fields = {
    external_id: 'id',
    title: 'name',
    payout: 'pays',
    currency: 'cur',
    countries: 'geo',
    destination_url: 'to',
  };
  const { sampled, ...checked } = await sampleOf({ ...declared(fields), base_url }, 1);
  expect(checked).toMatchObject({ error: null, records: 4 });
  expect(sampled?.offers).toMatchObject({
    records: 4,
    rejects: [
      { reason: 'missing_payout', records: 2 },
      { reason: 'no_rate', records: 1, cure: expect.stringContaining('"rates" in offerline.json') as string },
    ],
    sample: [
      {
        id: '1',
        becomes: 'offer',
        fields: [
          { field: 'external_id', value: '1', from: [{ place: 'id', value: 1 }] },
          { field: 'title', value: 'Castle', from: [{ place: 'name', value: 'Castle' }] },
          { field: 'currency', value: 'EUR', from: [{ place: 'cur', value: 'EUR' }] },
          { field: 'payout', value: '2.4', from: [{ place: 'pays', value: '1.20' }] },
          { field: 'destination_url', value: link, from: [{ place: 'to', value: link }] },
        ],
        unused: [],
        record: { id: 1, pays: '1.20' },
      },
    ],
  });
  expect(sampled?.odd.map(({ odd }) => odd)).toEqual([
    '2 records of 4 without a payout',
    'no offer has countries',
    'unknown words of countries: "Atlantis"',
    'amounts in GBP, without a rate',
  ]);
  expect(JSON.stringify([sampled, checked])).not.toContain('hidden-key');
});

it.each([
  ['without a link', {}, 'all 1 offer without a link'],
  ['no address', { to: 'nonsense' }, 'all 1 active offer with a link that is no address'],
  ['no click id', { to: 'https://t.example/' }, 'all 1 active offer with a link that takes no click id'],
  [
    'another macro',
    { to: 'https://t.example/{click_id}?x={WHAT}' },
    'all 1 active offer with {WHAT} in the link, which nobody fills',
  ],
  [
    'no currency',
    { to: 'https://t.example/{click_id}', cur: '' },
    '1 record of 1 without a currency, or with a sign alone',
  ],
  [
    'a currency that is no code',
    { to: 'https://t.example/{click_id}', cur: 'dollars' },
    'no offer comes of 1 record',
    'amounts in DOLLARS, which is no code of a currency',
  ],
  [
    'the sign of a currency',
    { to: 'https://t.example/{click_id}', cur: '€' },
    'no offer comes of 1 record',
    '1 record of 1 without a currency, or with a sign alone',
  ],
])('a link or amount is odd: %s', async (_what, record, ...odd) => {
  const offer = { id: 1, name: 'Castle', pays: '1.20', cur: 'USD', geo: ['DE'], ...record };
  const base_url = await serve(() => JSON.stringify([offer]));
  const fields = {
    external_id: 'id',
    title: 'name',
    payout: 'pays',
    currency: 'cur',
    countries: 'geo',
    destination_url: 'to',
  };
  const { sampled } = await sampleOf({ ...declared(fields), base_url }, 1);
  expect(sampled?.odd.map(({ odd: what }) => what)).toEqual(odd);
});

it('a list that is never whole needs "mode": "delta", which is said before a pull fails by it', async () => {
  const dialect = dialects['ogads'] as Dialect;
  await using network = await SimulatedNetwork.start('ogads', { key, offers: simulatedOffers(5, dialect.lacks) });
  const source = { connector: 'ogads', base_url: network.url, secrets: dialect.secrets(key) };
  const advice = expect.stringContaining('"mode": "delta"') as string;
  expect((await sampleOf(source, 1)).sampled?.odd).toContainEqual({ odd: 'a pull would fail', cure: advice });
  const delta = await sampleOf(source, 1, '{"sources": {"north": {"mode": "delta"}}}');
  expect(delta.sampled?.odd).not.toContainEqual({ odd: 'a pull would fail', cure: advice });
});

it('lines fit the terminal, however long texts and places are; --json has them whole', async () => {
  const long = `Castle ${'of sand and gold '.repeat(40)}`;
  const base_url = await serve(() =>
    JSON.stringify([{ id: 1, deeply: { nested: { record: { of: { a: { name: long } } } } }, pays: '1\u001b[31m' }]),
  );
  const fields = { external_id: 'id', title: 'deeply.nested.record.of.a.name', payout: 'pays' };
  const source = { source: 'north', ...declared(fields), base_url };
  const { sampled } = await sampleOf(source, 1);
  const text = sampledText(sampled as SampledPages, 80);
  expect(Math.max(...text.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  expect(text).not.toContain('\u001b');
  const data = await dataWith(source);
  const { stdout } = await answered(data.root, ['sources', 'check', '--sample', '1', '--json']);
  expect((JSON.parse(stdout) as { sources: object[] }).sources).toMatchObject([
    {
      sampled: { offers: { sample: [{ record: { deeply: { nested: { record: { of: { a: { name: long } } } } } } }] } },
    },
  ]);
  const shown = await answered(data.root, ['sources', 'check', 'north', '--sample', '1']);
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('1. 1: rejected (bad_payout)') as string });
  expect(await readFile(data.sourcesFile, 'utf8')).toBe(JSON.stringify({ sources: [source] }));
});

it('an error says what to do about it, and so does an empty list', async () => {
  const base_url = await serve(() => '{"offers": []}');
  const source = (records: string) => {
    const { offers, ...other } = declared({ external_id: 'id' });
    return { source: 'north', ...other, offers: { ...offers, records }, base_url };
  };
  const moved = await answered((await dataWith(source('items'))).root, ['sources', 'check']);
  expect(moved.code).toBe(1);
  expect(moved.stdout).toContain('the answer has another form');
  const refusing = await serve(() => '{"error": {"code": 7, "message": "no such key"}}');
  const refused = await answered((await dataWith({ ...source('items'), base_url: refusing })).root, [
    'sources',
    'check',
  ]);
  expect(refused.stdout).toContain('the answer has no "items", the place of the records; it says "no such key"');
  expect(refused.stdout).toContain('http refuses the request: look at key');
  const { sampled } = await sampleOf(source('offers'), 1);
  expect(sampled?.odd).toEqual([
    { odd: 'the list of offers is empty', cure: expect.stringContaining('approve') as string },
  ]);
});
