import { describe, expect, it } from 'vitest';
import type { CanonicalOffer } from '../../../src/pipeline/landing/catalog/canonical-offer.ts';
import { imageName } from '../../../src/pipeline/landing/catalog/image-name.ts';
import { parseOfferRecord, type OfferReading } from '../../../src/pipeline/landing/catalog/offer-record.ts';

const reading: OfferReading = {
  currencyRates: { EUR: '1.08', JPY: '0.006666667' },
  textCells: false,
  wallClock: new Date('2026-03-01T12:00:00Z'),
};

function parse(record: object | string, changes: Partial<OfferReading> = {}) {
  return parseOfferRecord(typeof record === 'string' ? record : JSON.stringify(record), { ...reading, ...changes });
}

/** The offer made of a minimal record with these fields; fails where it was rejected. */
function offerWith(fields: object, changes?: Partial<OfferReading>): CanonicalOffer & { warned: string[] } {
  const result = parse({ external_id: 'x1', title: 'Game', payout: '1', ...fields }, changes);
  if ('reject' in result) throw new Error(`rejected: ${result.reject}`);
  return { ...result.offer, warned: result.warnings.map(({ warning, field }) => `${warning} ${field}`) };
}

function rejectOf(fields: object, changes?: Partial<OfferReading>): string | undefined {
  const result = parse({ external_id: 'x1', title: 'Game', payout: '1', ...fields }, changes);
  return 'reject' in result ? result.reject : undefined;
}

describe('a minimal record', () => {
  it('gets the defaults of the contract and no warning', () => {
    expect(parse('{"external_id":"x1","title":"Game","payout":1.50}')).toEqual({
      warnings: [],
      offer: {
        external_id: 'x1',
        id: null,
        titles: { en: 'Game' },
        descriptions: {},
        payout: '1.5',
        image_name: '',
        image_source: '',
        level: '',
        stars: 0,
        categories: [],
        countries: [],
        devices: [],
        payment_term: 'net30',
        android_min_os: null,
        ios_min_os: null,
        destination_url: null,
        preview_url: null,
        tracking_type: 'CPA',
        report_category: 'web',
        formats: ['offerwall'],
        daily_cap: null,
        daily_click_cap: null,
        multi_complete: false,
        currency: 'USD',
        currency_rate: '1',
        status: 'active',
        events: [],
        created_at: null,
        updated_at: null,
      },
    });
  });

  it('takes null for absent', () => {
    expect(
      offerWith({
        description: null,
        stars: null,
        countries: null,
        events: null,
        currency: null,
        id: null,
        status: null,
        created_at: null,
      }).warned,
    ).toEqual([]);
  });
});

it('reads a full record', () => {
  const full = {
    id: 77,
    description: { de: 'Hallo', en: 'Hello' },
    image: 'https://cdn.example/a.png',
    level: 'hard',
    stars: 4,
    categories: ['Games', 'Casual', 'Games'],
    countries: ['de', 'UK', 'United States'],
    devices: ['pc', 'iPhone'],
    payment_term: 'NET60',
    android_min_os: 8.0,
    ios_min_os: '14',
    destination_url: 'https://track.example/?a={click_id}',
    preview_url: 'https://play.example/x',
    tracking_type: 'cpi',
    report_category: 'App',
    formats: ['ptc', 'offerwall'],
    daily_cap: 100,
    daily_click_cap: '0',
    multi_complete: true,
    status: 'paused',
    created_at: '2026-01-01T00:00:00+01:00',
    updated_at: '2026-01-02 00:00:00.1234567Z',
  };
  expect(offerWith(full)).toMatchObject({
    id: 77,
    descriptions: { de: 'Hallo', en: 'Hello' },
    image_source: full.image,
    image_name: imageName(full.image),
    level: 'hard',
    stars: 4,
    categories: ['Games', 'Casual'],
    countries: ['DE', 'GB', 'US'],
    devices: ['ios', 'desktop'],
    payment_term: 'net60',
    android_min_os: '8',
    ios_min_os: '14',
    destination_url: full.destination_url,
    preview_url: full.preview_url,
    tracking_type: 'CPI',
    report_category: 'app',
    formats: ['offerwall', 'PTC'],
    daily_cap: 100,
    daily_click_cap: 0,
    multi_complete: true,
    status: 'paused',
    created_at: '2025-12-31T23:00:00Z',
    updated_at: '2026-01-02T00:00:00.123456Z',
    warned: [],
  });
});

describe('money', () => {
  it.each([
    ['0.3000000000000000001', 'bad_payout'],
    ['-1', 'bad_payout'],
    ['1e-7', 'bad_payout'],
    ['1000000000', 'bad_payout'],
    ['"1_000"', 'bad_payout'],
    ['" 1."', 'bad_payout'],
    ['""', 'bad_payout'],
    ['true', 'bad_payout'],
    ['[1]', 'bad_payout'],
    ['null', 'missing_payout'],
  ])('payout %s is rejected %s', (payout, reason) => {
    expect(parse(`{"external_id":"x1","title":"t","payout":${payout}}`)).toMatchObject({
      reject: reason,
      externalId: 'x1',
    });
  });

  it('keeps digits that binary floating point would lose', () => {
    expect(parse('{"external_id":"x1","title":"t","payout":123456789.123457}')).toMatchObject({
      offer: { payout: '123456789.123457' },
    });
  });

  it('is converted with the configured rate', () => {
    expect(offerWith({ payout: '10', currency: 'eur' }).payout).toBe('10.8');
    expect(offerWith({ payout: '100', currency: 'JPY' }).payout).toBe('0.666667');
    expect(offerWith({ payout: '100', currency: 'USD' }).payout).toBe('100');
    expect(rejectOf({ payout: '999999999', currency: 'EUR' })).toBe('bad_payout');
  });

  it.each(['GBP', '', 'constructor', 5, ['EUR']])('in currency %j has no rate', (currency) => {
    expect(rejectOf({ currency })).toBe('no_rate');
  });
});

describe('milestones', () => {
  const events = [
    { event_id: 'install', description: 'Install', payout: '0.10' },
    { event_id: 7, description: { de: 'Stufe' }, payout: 2 },
  ];

  it('make the offer multireward and give it its payout', () => {
    expect(offerWith({ payout: undefined, events })).toMatchObject({
      payout: '2.1',
      events: [
        { event_id: 'install', descriptions: { en: 'Install' }, payout: '0.1' },
        { event_id: '7', descriptions: { de: 'Stufe' }, payout: '2' },
      ],
    });
    expect(offerWith({ payout: '5', events }).payout).toBe('5');
  });

  it('are in the currency of the offer, and their sum is that of the converted amounts', () => {
    const inYen = [
      { event_id: 'a', payout: '100' },
      { event_id: 'b', payout: '100' },
    ];
    expect(offerWith({ payout: undefined, currency: 'JPY', events: inYen })).toMatchObject({
      payout: '1.333334',
      events: [{ payout: '0.666667' }, { payout: '0.666667' }],
    });
  });

  it('are none in an empty list', () => {
    expect(offerWith({ events: [] }).events).toEqual([]);
    expect(rejectOf({ payout: undefined, events: [] })).toBe('missing_payout');
  });

  it.each([
    [
      [
        { event_id: 'a', payout: '1' },
        { event_id: 'a', payout: '2' },
      ],
      'duplicate_event_id',
    ],
    [
      [
        { event_id: '1', payout: '1' },
        { event_id: 1, payout: '2' },
      ],
      'duplicate_event_id',
    ],
    [[{ payout: '1' }], 'missing_event_id'],
    [[{ event_id: '', payout: '1' }], 'bad_event_id'],
    [[{ event_id: 'a' }], 'missing_event_payout'],
    [[{ event_id: 'a', payout: '-1' }], 'bad_event_payout'],
    [
      [
        { event_id: 'a', payout: '999999999' },
        { event_id: 'b', payout: '1' },
      ],
      'bad_payout',
    ],
    [['a'], 'bad_events'],
    [{ a: 1 }, 'bad_events'],
    ['[]', 'bad_events'],
  ])('%j are rejected %s', (list, reason) => {
    expect(rejectOf({ payout: undefined, events: list })).toBe(reason);
  });
});

describe('identifiers', () => {
  it.each([
    [{ external_id: undefined }, 'missing_external_id', null],
    [{ external_id: '' }, 'bad_external_id', null],
    [{ external_id: true }, 'bad_external_id', null],
    [{ external_id: 'a\u0000b' }, 'bad_external_id', null],
    [{ external_id: 'x'.repeat(257) }, 'bad_external_id', null],
    [{ id: 0 }, 'bad_id', 'x1'],
    [{ id: 2 ** 31 }, 'bad_id', 'x1'],
    [{ id: -5 }, 'bad_id', 'x1'],
    [{ id: 1.5 }, 'bad_id', 'x1'],
    [{ id: '07' }, 'bad_id', 'x1'],
    [{ id: [7] }, 'bad_id', 'x1'],
    [{ id: true }, 'bad_id', 'x1'],
  ])('%j are rejected %s', (fields, reject, externalId) => {
    expect(parse({ external_id: 'x1', title: 'Game', payout: '1', ...fields })).toMatchObject({ reject, externalId });
  });

  it('may be whole numbers', () => {
    expect(offerWith({ external_id: 12, id: '2147483647' })).toMatchObject({ external_id: '12', id: 2_147_483_647 });
  });

  it.each([
    ['12.50e1', '125'],
    ['1.0e2', '100'],
    ['-7.000', '-7'],
    ['1.25e1', null],
    ['1e-1', null],
    [`3.${'0'.repeat(100_000)}`, '3'],
    [`1.${'0'.repeat(100_000)}e-5`, null],
    [`1.${'0'.repeat(100_000)}1`, null],
  ])('may be numbers that are whole: %.12s', (number, externalId) => {
    const read = parse(`{"external_id":${number},"title":"t","payout":"1"}`);
    expect('offer' in read ? read.offer.external_id : read).toEqual(
      externalId ?? { reject: 'bad_external_id', externalId: null, warnings: [] },
    );
  });
});

describe('texts', () => {
  it.each([
    [{ title: undefined }, 'missing_title'],
    [{ title: '  ' }, 'bad_title'],
    [{ title: {} }, 'bad_title'],
    [{ title: { en: 5 } }, 'bad_title'],
    [{ title: [] }, 'bad_title'],
  ])('%j are rejected %s', (fields, reason) => {
    expect(rejectOf(fields)).toBe(reason);
  });

  it('keep the order of languages and drop what is no language or no text', () => {
    const offer = parse(
      '{"external_id":"x1","payout":1,"title":{"fr":"Jeu","en":"Game","7":"x","de":3,"__proto__":"y","pt-BR":"Jogo","it":null}}',
    );
    expect(offer).toMatchObject({ warnings: [{ warning: 'bad_title', field: 'title' }] });
    expect('offer' in offer && Object.entries(offer.offer.titles)).toEqual([
      ['fr', 'Jeu'],
      ['en', 'Game'],
      ['pt-BR', 'Jogo'],
    ]);
  });

  it('have no language with millions of parts', () => {
    expect(offerWith({ title: { en: 'Game', [`en${'-aa'.repeat(5_000_000)}`]: 'Game' } })).toMatchObject({
      titles: { en: 'Game' },
      warned: ['bad_title title'],
    });
    expect(offerWith({ title: { 'sl-Latn-IT-nedis': 'Igra' } }).titles).toEqual({ 'sl-Latn-IT-nedis': 'Igra' });
  });

  it('lose what no database text holds', () => {
    expect(parse(String.raw`{"external_id":"x1","payout":1,"title":"a\u0000b\ud800"}`)).toMatchObject({
      offer: { titles: { en: 'ab\ufffd' } },
    });
  });
});

describe('descriptive nonsense becomes the default, with a warning', () => {
  it.each([
    [{ stars: 6 }, { stars: 0 }, 'bad_stars stars'],
    [{ stars: 2.5 }, { stars: 0 }, 'bad_stars stars'],
    [{ level: true }, { level: '' }, 'bad_level level'],
    [{ payment_term: 'net45' }, { payment_term: 'net30' }, 'bad_payment_term payment_term'],
    [{ tracking_type: 'CPM' }, { tracking_type: 'CPA' }, 'bad_tracking_type tracking_type'],
    [{ report_category: 'tv' }, { report_category: 'web' }, 'bad_report_category report_category'],
    [{ formats: ['popup'] }, { formats: ['offerwall'] }, 'bad_formats formats'],
    [{ daily_cap: -1 }, { daily_cap: null }, 'bad_daily_cap daily_cap'],
    [{ daily_click_cap: 2 ** 31 }, { daily_click_cap: null }, 'bad_daily_click_cap daily_click_cap'],
    [{ multi_complete: 'maybe' }, { multi_complete: false }, 'bad_multi_complete multi_complete'],
    [{ preview_url: 'javascript:alert(1)' }, { preview_url: null }, 'bad_preview_url preview_url'],
    [{ preview_url: 'https://user:pw@apps.example/7' }, { preview_url: null }, 'bad_preview_url preview_url'],
    [{ image: 'logo.png' }, { image_name: '', image_source: '' }, 'bad_image image'],
    [{ image: 'https://user:pw@cdn.example/7.png' }, { image_name: '', image_source: '' }, 'bad_image image'],
    [{ image: 'https://user@cdn.example/7.png' }, { image_source: '' }, 'bad_image image'],
    [{ image: 'data:image/png;base64,AA' }, { image_name: '', image_source: '' }, 'bad_image image'],
    [{ image: '../../etc/passwd' }, { image_source: '' }, 'bad_image image'],
    [{ image: 'https://cdn.example/{w}x{h}bb.{f}' }, { image_source: '' }, 'bad_image image'],
    [{ image: 'https://cdn.example/%7Bsize%7D.png' }, { image_source: '' }, 'bad_image image'],
    [{ categories: { a: 1 } }, { categories: [] }, 'bad_categories categories'],
    [{ categories: ['a', 5, null] }, { categories: ['a', '5'] }, 'bad_categories categories'],
    [{ description: false }, { descriptions: {} }, 'bad_description description'],
    [{ colour: 'red' }, {}, 'unknown_field colour'],
    [{ events: [{ event_id: 'a', payout: '1', colour: 1 }] }, {}, 'unknown_field events.colour'],
  ])('%j', (fields, expected, warning) => {
    expect(offerWith(fields)).toMatchObject({ ...expected, warned: [warning] });
  });
});

describe('texts and lists without end', () => {
  const long = 'x'.repeat(20_000);
  const beginning = 'x'.repeat(10_000);

  it('are cut at the bound, with a warning', () => {
    const events = [{ event_id: 'a', payout: '1', description: long }];
    expect(
      offerWith({
        title: { de: long, en: 'x'.repeat(10_000) },
        description: long,
        level: long,
        ios_min_os: long,
        categories: ['Games', long],
        events,
      }),
    ).toMatchObject({
      titles: { de: beginning, en: beginning },
      descriptions: { en: beginning },
      level: beginning,
      ios_min_os: beginning,
      categories: ['Games', beginning],
      events: [{ descriptions: { en: beginning } }],
      warned: [
        'too_long title',
        'too_long events.description',
        'too_long description',
        'too_long level',
        'too_long categories',
        'too_long ios_min_os',
      ],
    });
    const texts = { title: beginning, level: beginning, categories: [beginning] };
    expect(offerWith(texts)).toMatchObject({ level: beginning, warned: [] });
  });

  it('are cut between whole characters, without blanks at the end', () => {
    expect(offerWith({ title: `${'x'.repeat(9_999)}😀` }).titles).toEqual({ en: 'x'.repeat(9_999) });
    expect(offerWith({ title: `${'x'.repeat(9_998)}😀` }).titles).toEqual({ en: `${'x'.repeat(9_998)}😀` });
    expect(offerWith({ title: `x${' '.repeat(20_000)}x` }).titles).toEqual({ en: 'x' });
  });

  it('have a bound together, too', () => {
    const categories = Array.from({ length: 500 }, (_, index) => `${index}${long}`);
    const offer = offerWith({ categories, description: 'Play' });
    expect(offer.warned).toEqual(['too_long categories']);
    expect(offer.categories.join('').length).toBe(1_000_000 - 'GamePlay'.length);
    // No language has as many parts.
    const { titles } = offerWith({ title: { de: 'Spiel', [`en${'-xy'.repeat(400_000)}`]: 'Game', fr: 'Jeu' } });
    expect(titles).toEqual({ de: 'Spiel', fr: 'Jeu' });
    expect(offerWith({ categories: Array.from({ length: 200_000 }, () => 'Puzzle') })).toMatchObject({
      categories: ['Puzzle'],
      warned: [],
    });
  });

  it('have a thousand members, and milestones no more: what they pay is not guessed', () => {
    const names = Array.from({ length: 1001 }, (_, index) => `n${index}`);
    const languages = names.map((name) => [`en-${name.padStart(8, '0')}`, name]);
    expect(offerWith({ categories: names, title: Object.fromEntries(languages) as object })).toMatchObject({
      categories: names.slice(0, 1000),
      titles: Object.fromEntries(languages.slice(0, 1000)) as object,
      warned: ['too_many title', 'too_many categories'],
    });
    expect(offerWith({ categories: [...names.slice(1), 'n1'] }).warned).toEqual([]);
    const events = names.map((event_id) => ({ event_id, payout: '1' }));
    expect(rejectOf({ events })).toBe('bad_events');
    expect(offerWith({ events: events.slice(1) }).events).toHaveLength(1000);
  });

  it('are no addresses', () => {
    const address = `https://cdn.example/${long}`;
    expect(offerWith({ image: address, destination_url: address, preview_url: address })).toMatchObject({
      image_source: '',
      destination_url: null,
      preview_url: null,
      warned: ['bad_image image', 'bad_destination_url destination_url', 'bad_preview_url preview_url'],
    });
    const whole = address.slice(0, 10_000);
    expect(offerWith({ image: whole, destination_url: whole })).toMatchObject({
      image_source: whole,
      destination_url: whole,
      warned: [],
    });
  });
});

it('the address of a picture that was copied out of a page is read as it is meant', () => {
  const image_source = 'https://cdn.example/a.png?w=64&h=64&q=1';
  const copied = image_source.replace('&h', '&amp;h').replace('&q', '&#38;q');
  expect(offerWith({ image: copied })).toMatchObject({ image_source, image_name: imageName(image_source), warned: [] });
});

describe('countries and devices', () => {
  it.each([
    [[], []],
    [['All'], []],
    ['Worldwide', []],
    [['US', 'All'], []],
    [['us', 'US', 'usa'], ['US']],
    ['DE|FR', ['DE', 'FR']],
  ])('countries %j are %j', (countries, expected) => {
    expect(offerWith({ countries })).toMatchObject({ countries: expected, warned: [] });
  });

  it('drop what they do not understand, but never become everything by it', () => {
    expect(offerWith({ countries: ['US', 'Atlantis', 'Lemuria'], devices: ['fridge', 'tablet'] })).toMatchObject({
      countries: ['US'],
      devices: ['android', 'ios'],
      warned: ['bad_countries countries', 'bad_devices devices'],
    });
    for (const countries of [['Atlantis'], 'Atlantis', [null], [''], 5, {}, true, '|'])
      expect(rejectOf({ countries })).toBe('bad_countries');
    for (const list of [['fridge'], 'toaster', {}]) expect(rejectOf({ devices: list })).toBe('bad_devices');
  });

  it.each([
    [['all'], []],
    [['PC', 'all'], []],
    [
      ['desktop', 'android', 'android phone'],
      ['android', 'desktop'],
    ],
  ])('devices %j are %j', (list, expected) => {
    expect(offerWith({ devices: list }).devices).toEqual(expected);
  });
});

describe('status and dates', () => {
  it('refuse rather than guess', () => {
    expect(rejectOf({ status: 'deleted' })).toBe('bad_status');
    expect(rejectOf({ status: false })).toBe('bad_status');
    expect(rejectOf({ created_at: 'yesterday' })).toBe('bad_created_at');
    expect(rejectOf({ updated_at: 170_000_000 })).toBe('bad_updated_at');
    expect(rejectOf({ created_at: '2026-01-01T00:00:00' })).toBe('timestamp_without_offset');
    expect(rejectOf({ updated_at: '2026-03-03T00:00:00Z' })).toBe('future_timestamp');
  });

  it('use the zone of the source', () => {
    expect(offerWith({ created_at: '2026-01-01T00:00:00' }, { timeZone: 'Asia/Tokyo' }).created_at).toBe(
      '2025-12-31T15:00:00Z',
    );
  });
});

describe('CSV and Parquet cells', () => {
  const textCells = { textCells: true };

  it('hold lists, JSON and numbers as text', () => {
    expect(
      offerWith(
        {
          id: '5',
          title: '{"en":"Game","de":"Spiel"}',
          payout: '',
          stars: '3.0',
          multi_complete: 'TRUE',
          categories: 'a| b |c',
          countries: 'US|uk',
          devices: 'android|ios',
          events: '[{"event_id":"a","description":{"en":"x"},"payout":0.25},{"event_id":"b","payout":"0.50"}]',
          image: '',
          currency: '',
          status: ' ',
          created_at: null,
        },
        textCells,
      ),
    ).toMatchObject({
      id: 5,
      titles: { en: 'Game', de: 'Spiel' },
      payout: '0.75',
      stars: 3,
      multi_complete: true,
      categories: ['a', 'b', 'c'],
      countries: ['GB', 'US'],
      devices: ['android', 'ios'],
      events: [
        { event_id: 'a', descriptions: { en: 'x' }, payout: '0.25' },
        { event_id: 'b', payout: '0.5' },
      ],
      warned: [],
    });
  });

  it('may hold a plain title that looks like JSON', () => {
    expect(offerWith({ title: '{Game}' }, textCells).titles).toEqual({ en: '{Game}' });
  });

  it.each(['[{"event_id":', '{"event_id":"a"}', 'a|b'])('reject events %s', (events) => {
    expect(rejectOf({ events }, textCells)).toBe('bad_events');
  });
});

describe('broken records tell which offer they were about, if they can', () => {
  it.each([
    ['{"external_id":"x1","title":', 'not_json_object', 'x1'],
    ['{"external_id": "x\\u0031", broken}', 'not_json_object', 'x1'],
    ['{"external_id":12,"title":', 'not_json_object', '12'],
    ['{"external_id":12', 'not_json_object', null],
    ['{"external_id":"x', 'not_json_object', null],
    ['{"external_id":"a"}{"external_id":"b"}', 'not_json_object', null],
    ['["x1","Game"]', 'not_json_object', null],
    ['null', 'not_json_object', null],
    ['5', 'not_json_object', null],
    ['{"external_id":"x1","title":"t","payout":1,"payout":2}', 'duplicate_key', 'x1'],
    ['{"external_id":"x1","external_id":"x2","title":"t","payout":1}', 'duplicate_key', null],
  ])('%s', (raw, reject, externalId) => {
    expect(parse(raw)).toEqual({ reject, externalId, warnings: [] });
  });

  it('whatever their size and depth', () => {
    const deep = `{"external_id":"x1","title":"t","payout":"1","x":${'{"a":'.repeat(4000)}1${'}'.repeat(4000)}}`;
    expect(parse(deep)).toMatchObject({ reject: 'not_json_object', externalId: 'x1' });
    const long = `{"external_id":"${'x'.repeat(9_000_000)}","title":`;
    expect(parse(long)).toMatchObject({ reject: 'not_json_object', externalId: null });
  });
});
