import { describe, expect, it } from 'vitest';
import { compileMapping, type MappedRecord } from '../../../../src/kit/intake/mapping/compile-mapping.ts';
import { fileMappingSchema } from '../../../../src/kit/intake/mapping/mapping-schema.ts';
import { JsonNumber, parseJson } from '../../../../src/kit/text/json-text.ts';
import type { LandingKind } from '../../../../src/kit/vocabulary/values.ts';
import { jsonText } from '../../../../src/kit/text/json-text.ts';
import { parseOfferRecord } from '../../../../src/pipeline/landing/catalog/offer-record.ts';

const required: Record<LandingKind, Record<string, unknown>> = {
  offers: { external_id: 'id', title: 'name', payout: 'payout' },
  clicks: { click_id: 'id', offer_id: 'offer', site_key: 'site', user_id: 'user', clicked_at: 'time' },
  conversions: { conversion_id: 'id', click_id: 'sub', occurred_at: 'time', kind: { value: 'credit' } },
};

/** Maps a record, given as JSON or as cells, by fields beside those that a mapping must have. */
function mapped(kind: LandingKind, fields: Record<string, unknown>, record: unknown, rows?: unknown): MappedRecord {
  const all = { ...required[kind], ...fields };
  const { fields: read, rows: conditions } = fileMappingSchema.parse({ match: `${kind}/**`, rows, fields: all });
  return compileMapping({ fields: read, rows: conditions }, kind).map(parseJson(JSON.stringify(record)) ?? null);
}

/** The record of ours, without the fields that every test has. */
function recordOf(kind: LandingKind, fields: Record<string, unknown>, record: unknown): Record<string, unknown> {
  const result = mapped(kind, fields, record);
  if ('passedOver' in result) return { passedOver: true };
  return Object.fromEntries(Object.keys(fields).map((name) => [name, result.record[name]]));
}

describe('a value', () => {
  it('comes from the first place that has one, else from the constant', () => {
    const fields = { sub1: { at: ['aff_sub', 'subs.0'], value: 'none' } };
    expect(recordOf('clicks', fields, { aff_sub: ' ', subs: ['b'] })).toEqual({ sub1: 'b' });
    expect(recordOf('clicks', fields, { aff_sub: 'a', subs: ['b'] })).toEqual({ sub1: 'a' });
    expect(recordOf('clicks', fields, {})).toEqual({ sub1: 'none' });
    expect(recordOf('clicks', { sub1: 'aff_sub' }, { aff_sub: '' })).toEqual({ sub1: undefined });
  });

  it('is absent where it stands for none: a number in any spelling, the next place counts', () => {
    const daily_cap = { at: ['cap', 'limit'], none: [0, 'unlimited'] };
    const of = (record: object) => recordOf('offers', { daily_cap }, record);
    expect(of({ cap: '0.00', limit: '25' })).toEqual({ daily_cap: '25' });
    expect(of({ cap: -0, limit: ' Unlimited ' })).toEqual({ daily_cap: undefined });
    expect(of({ cap: '10' })).toEqual({ daily_cap: '10' });
    const payout = { each: 'all', at: 'usd', none: [0], lowest: true };
    expect(recordOf('offers', { payout }, { all: [{ usd: '0.0' }, { usd: 2 }] })).toEqual({ payout: '2' });
    const status = { at: 's', none: 'n/a', words: { '': 'active', '*': 'paused' } };
    expect(recordOf('offers', { status }, { s: 'N/A' })).toEqual({ status: 'active' });
  });

  it('stays as it was written where nothing more is said, and nothing else of the record is kept', () => {
    const result = mapped('clicks', {}, { id: 7, offer: 17, user: 'NULL', other: 1 });
    expect(result).toEqual({
      record: { click_id: new JsonNumber('7'), offer_id: new JsonNumber('17'), user_id: 'NULL' },
      warnings: [],
    });
  });

  it('is changed as a text, in each language', () => {
    const fields = { title: { at: 'name', text: 'html' }, currency: { at: 'cur', upper: true, trim: true } };
    const record = { name: { en: '<b>R&amp;D</b>', fr: 'Caf&eacute;' }, cur: ' eur ' };
    expect(recordOf('offers', fields, record)).toEqual({ title: { en: 'R&D', fr: 'Café' }, currency: 'EUR' });
    expect(recordOf('offers', { title: { at: ['html', 'name'], text: 'html' } }, { html: '<br>' })).toEqual({
      title: undefined,
    });
    const line = { title: { at: 'name', text: 'html', line: true } };
    expect(recordOf('offers', line, { name: { en: 'Farm<br>& Field', fr: 'Café\r\n crème' } })).toEqual({
      title: { en: 'Farm & Field', fr: 'Café crème' },
    });
    // Looked at once: a pattern that begins anew at each blank takes minutes.
    const blanks = ' '.repeat(400_000);
    const ofOneLine = { title: { at: 'name', line: true } };
    expect(recordOf('offers', ofOneLine, { name: `a${blanks}\n${blanks}b` })).toEqual({ title: 'a b' });
    expect(recordOf('offers', ofOneLine, { name: `a${blanks}b` })).toEqual({ title: `a${blanks}b` });
  });
});

describe('a value of several places or members', () => {
  it('is put together of all that have one', () => {
    const description = { at: ['about', 'steps', 'more'], text: 'html', join: '\n' };
    const record = { about: '<b>Play</b>', steps: ['Install', '<br>', 'Reach level 5'], more: null };
    expect(recordOf('offers', { description }, record)).toEqual({ description: 'Play\nInstall\nReach level 5' });
    const id = { at: ['offer', 'contract'], join: '-' };
    expect(recordOf('offers', { external_id: id }, { offer: 11, contract: 33 })).toEqual({ external_id: '11-33' });
    expect(recordOf('offers', { external_id: id }, { offer: 11 })).toEqual({ external_id: '11' });
    const sub1 = { each: 'subs', at: 'v', join: '/', value: 'none' };
    expect(recordOf('clicks', { sub1 }, { subs: [{ v: 'a' }, { w: 'b' }, { v: 'c' }] })).toEqual({ sub1: 'a/c' });
    expect(recordOf('clicks', { sub1 }, { subs: [] })).toEqual({ sub1: 'none' });
    expect(recordOf('clicks', { sub1: { at: ['a'], join: '' } }, { a: [{ b: 1 }, []] })).toMatchObject({
      sub1: { unread: [{}] },
    });
  });

  it('is a time as a whole, where day and hour are in two of them', () => {
    const at = { at: ['day', 'hour'], join: ' ', zone: 'Europe/Berlin' };
    const clicked_at = { ...at, time: '%d.%m.%Y %H:%M' };
    expect(recordOf('clicks', { clicked_at }, { day: '18.11.2026', hour: '11:00' })).toEqual({
      clicked_at: '2026-11-18T10:00:00Z',
    });
    expect(recordOf('clicks', { clicked_at }, { day: '18.11.2026' })).toEqual({ clicked_at: { unread: '18.11.2026' } });
    expect(recordOf('clicks', { clicked_at: at }, { day: '2026-11-18', hour: '11:00' })).toEqual({
      clicked_at: '2026-11-18T10:00:00Z',
    });
  });

  it('is that of the first member that counts, or all values as a list', () => {
    const android_min_os = { each: 'systems', at: 'min', rows: { at: 'name', is: 'android' }, none: '', first: true };
    const systems = [
      { name: 'ios', min: '15' },
      { name: 'Android', min: '' },
      { name: 'android', min: '8.0.1' },
    ];
    expect(recordOf('offers', { android_min_os }, { systems })).toEqual({ android_min_os: '8.0.1' });
    expect(recordOf('offers', { android_min_os }, { systems: [] })).toEqual({ android_min_os: undefined });
    const categories = { at: ['one', 'two'], all: true };
    expect(recordOf('offers', { categories }, { one: 'Games', two: ['Quiz', ''] })).toEqual({
      categories: ['Games', 'Quiz'],
    });
  });
});

describe('a field', () => {
  it('is there when its conditions hold; else what is said to be in its place', () => {
    const payout = { at: 'rate', when: { at: 'model', not: ['cpc', 'cps'] } };
    expect(recordOf('offers', { payout }, { rate: 2, model: 'CPA' })).toEqual({ payout: new JsonNumber('2') });
    expect(recordOf('offers', { payout }, { rate: 2, model: 'CPS' })).toEqual({ payout: undefined });
    const isPlain = { at: 'is_plain', is: true };
    const description = { at: 'text', when: isPlain, else: ['short', { at: 'text', text: 'html' }] };
    const of = (record: object) => recordOf('offers', { description }, record);
    expect(of({ text: 'a <b', is_plain: true })).toEqual({ description: 'a <b' });
    expect(of({ text: '<p>a</p>', is_plain: false })).toEqual({ description: 'a' });
    expect(of({ text: '<p>a</p>', short: 'b' })).toEqual({ description: 'b' });
  });

  it('that could not be read, or of which nothing is left, is not absent', () => {
    const payout = { at: 'pays', number: {}, else: { value: '0' } };
    expect(recordOf('offers', { payout }, { pays: '1-2' })).toEqual({ payout: { unread: '1-2' } });
    expect(recordOf('offers', { payout }, {})).toEqual({ payout: '0' });
    const devices = { at: 'allow', except: 'deny', else: { value: ['ios'] } };
    const of = (record: object) => recordOf('offers', { devices, status: 's' }, { ...record, s: 'active' });
    expect(of({})).toEqual({ devices: ['ios'], status: 'active' });
    expect(of({ allow: ['ios'], deny: ['ios'] })).toEqual({ devices: undefined, status: 'paused' });
  });
});

it('a time is read by the first of several patterns that fits', () => {
  const clicked_at = { at: 't', time: ['%m/%d/%Y %H:%M:%S', 'epoch_s'] };
  const of = (t: unknown) => recordOf('clicks', { clicked_at }, { t })['clicked_at'];
  expect(of('11/18/2026 10:00:00')).toBe('2026-11-18T10:00:00');
  expect(of(1_795_000_000)).toBe('2026-11-18T11:06:40Z');
  expect(of('18.11.2026')).toEqual({ unread: '18.11.2026' });
});

it('an address of an app store is the system that it is for', () => {
  const devices = { each: 'systems', at: 'name', else: { at: 'app', text: 'store' } };
  const of = (app: string) => recordOf('offers', { devices }, { app })['devices'];
  expect(of(' https://play.google.com/store/apps/details?id=a')).toEqual(['android']);
  expect(of('market://details?id=a')).toEqual(['android']);
  for (const app of ['https://apps.apple.com/us/app/id1', 'https://itunes.apple.com/app/id1', 'itms-apps://x/id1'])
    expect(of(app)).toEqual(['ios']);
  for (const app of ['https://apps.apple.com.example/id1', 'https://play.google.com.example/', 'play.google.com', ''])
    expect(of(app)).toBeUndefined();
});

describe('words', () => {
  const kind = { at: 'state', words: { approved: 'credit', ' Declined ': 'reject', hold: null, '': 'credit' } };

  it('are compared trimmed and without case; an absent value is the empty word', () => {
    expect(recordOf('conversions', { kind }, { state: ' APPROVED' })).toEqual({ kind: 'credit' });
    expect(recordOf('conversions', { kind }, { state: 'declined' })).toEqual({ kind: 'reject' });
    expect(recordOf('conversions', { kind }, { state: null })).toEqual({ kind: 'credit' });
  });

  it('pass a record over by null, and leave an unknown value to landing', () => {
    expect(mapped('conversions', { kind }, { state: 'Hold' })).toEqual({ passedOver: true });
    expect(recordOf('conversions', { kind }, { state: 'Under review' })).toEqual({ kind: 'Under review' });
  });

  it('have one for the rest, which is not for an absent value', () => {
    const rest = { kind: { at: 'state', words: { '1': 'credit', '*': null } } };
    expect(recordOf('conversions', rest, { state: 1 })).toEqual({ kind: 'credit' });
    expect(mapped('conversions', rest, { state: 2 })).toEqual({ passedOver: true });
    expect(recordOf('conversions', rest, {})).toEqual({ kind: undefined });
    expect(recordOf('offers', { multi_complete: { at: 'm', words: { true: '0' } } }, { m: true })).toEqual({
      multi_complete: '0',
    });
  });

  it('are ours already: no number or time is read out of them', () => {
    const payout = { at: 'p', words: { free: '0.5' }, number: { decimal: ',', group: '.' } };
    expect(recordOf('offers', { payout }, { p: 'free' })).toEqual({ payout: '0.5' });
  });
});

describe('rows', () => {
  it('all have to hold', () => {
    const rows = [
      { at: 'type', is: ['lead', 'SALE'] },
      { at: 'test', not: [true, 1] },
      { at: 'id', not: '' },
    ];
    const isKept = (record: unknown) => 'record' in mapped('clicks', {}, record, rows);
    expect(isKept({ id: 1, type: 'Lead ' })).toBe(true);
    expect(isKept({ id: 1, type: 'sale', test: false })).toBe(true);
    expect(isKept({ id: 1, type: 'sale', test: '1' })).toBe(false);
    expect(isKept({ id: 1, type: 'click' })).toBe(false);
    expect(isKept({ type: 'sale' })).toBe(false);
  });

  it('work without fields, on records that are ours already', () => {
    const mapping = compileMapping({ rows: [{ at: 'click_id', not: ['Total'] }] }, 'clicks');
    expect(mapping.map({ click_id: 'total' })).toEqual({ passedOver: true });
    expect(mapping.map({ click_id: 'a', x: null })).toEqual({ record: { click_id: 'a', x: null }, warnings: [] });
  });
});

it('rows tell a list with members from an absent one', () => {
  const record = { id: 1, some: ['Bavaria'], map: { BY: 1 }, empty: [], none: null };
  const counts = (rows: object) => !('passedOver' in mapped('offers', {}, record, rows));
  const present = Object.keys(record).filter((at) => counts({ at, not: null }));
  expect(present).toEqual(['id', 'some', 'map']);
  expect(Object.keys(record).filter((at) => counts({ at, is: [''] }))).toEqual(['empty', 'none']);
});

describe('a list', () => {
  const countries = (field: unknown, record: unknown) => recordOf('offers', { countries: field }, record)['countries'];

  it('is one of values, of objects, a map, or a text that is cut', () => {
    expect(countries('geo', { geo: ['DE', 'FR'] })).toEqual(['DE', 'FR']);
    expect(countries('geo', { geo: { a: 'DE', b: 'FR' } })).toEqual(['DE', 'FR']);
    expect(countries('geo', { geo: 'DE' })).toEqual(['DE']);
    expect(countries({ at: 'geo', split: ',' }, { geo: 'DE, FR,' })).toEqual(['DE', 'FR']);
    expect(
      countries(
        { each: 'geo.countries', at: ['iso', 'code'] },
        { geo: { countries: [{ iso: 'DE' }, { code: 'FR' }] } },
      ),
    ).toEqual(['DE', 'FR']);
    expect(
      countries({ each: 'geo', at: 'codes', split: '|' }, { geo: { a: { codes: 'DE|FR' }, b: { codes: ['US'] } } }),
    ).toEqual(['DE', 'FR', 'US']);
    expect(countries({ each: 'geo' }, { geo: ['DE'] })).toEqual(['DE']);
  });

  it('of one is understood where it is written as its only member, as XML has it', () => {
    expect(countries({ each: 'geo.country', at: '@code' }, { geo: { country: { '@code': 'DE' } } })).toEqual(['DE']);
  });

  it('is the names in a map, of which some may be off', () => {
    const devices = { each: 'os', keys: true, rows: { at: 'enabled', not: false } };
    const of = (os: unknown) => recordOf('offers', { devices, status: 's' }, { os, s: 'active' });
    const flags = {
      android: { enabled: true },
      ios: { enabled: false },
      desktop: true,
      tv: false,
      web: 0,
      other: null,
    };
    expect(of(flags)).toEqual({ devices: ['android', 'desktop'], status: 'active' });
    expect(of(['ios'])).toEqual({ devices: ['ios'], status: 'active' });
    // An empty map says nothing; one in which all are off says that the offer runs nowhere.
    for (const none of [{}, [], null]) expect(of(none)).toEqual({ devices: undefined, status: 'active' });
    for (const off of [{ ios: false }, { ios: { enabled: false }, web: '0' }])
      expect(of(off)).toEqual({ devices: undefined, status: 'paused' });
  });

  it('of the names in a map may be denied by another one', () => {
    const geo = { each: 'geo.include', keys: true, except: 'geo.exclude' };
    const [de, fr] = [{ DE: { code: 'DE' } }, { FR: { code: 'FR' } }];
    expect(countries(geo, { geo: { include: { ...de, ...fr }, exclude: fr } })).toEqual(['DE']);
    expect(countries(geo, { geo: { include: [], exclude: fr } })).toHaveLength(248);
    expect(countries(geo, { geo: { include: { DE: false }, exclude: fr } })).toHaveLength(248);
  });

  it('is absent where there is none, and has the constant then', () => {
    expect(countries('geo', {})).toBeUndefined();
    expect(countries({ at: 'geo', value: ['US'] }, { geo: [] })).toEqual(['US']);
    expect(countries({ value: ['US'] }, {})).toEqual(['US']);
  });

  it('of which nothing can be read does not become everywhere', () => {
    const fields = { countries: { each: 'geo', at: 'code' } };
    const result = mapped('offers', fields, { id: 'a', name: 'A', payout: '1', geo: [{ iso: 'DE' }] });
    expect(result).toMatchObject({
      record: { countries: { unread: [{ iso: 'DE' }] } },
      fault: { field: 'countries', place: 'geo', problem: 'has 1 of 1 members without a value' },
    });
    expect(landingReject(result)).toBe('bad_countries');
  });

  it('has no member for a list that is empty, which is no missing value', () => {
    const rules = { each: 'rules', at: 'country.allow', except: { each: 'rules', at: 'country.deny' } };
    const rule = (allow: string[], deny: string[]) => ({ country: { allow, deny } });
    expect(countries(rules, { rules: [rule([], []), rule(['DE', 'FR'], ['FR'])] })).toEqual(['DE']);
    expect(countries(rules, { rules: [rule([], ['US'])] })).toHaveLength(248);
    expect(countries(rules, { rules: [rule([], [])] })).toBeUndefined();
    expect(countries(rules, { rules: rule(['DE'], []) })).toEqual(['DE']);
    expect(countries(rules, { rules: [{ country: { allow: [] } }, rule(['DE'], [])] })).toEqual({
      unread: [{ country: { allow: [] } }, rule(['DE'], [])],
    });
  });

  it('loses the members that a word leaves out, and runs nowhere when all are', () => {
    const devices = { at: 'os', words: { smart_tv: null, phone: 'mobile' } };
    expect(recordOf('offers', { devices }, { os: ['Phone', 'Smart_TV'] })).toEqual({ devices: ['mobile'] });
    expect(mapped('offers', { devices }, { os: ['Smart_TV'] })).toMatchObject({ record: { status: 'paused' } });
    expect(
      recordOf('offers', { categories: { at: 'c', words: { x: null } }, status: { value: 'active' } }, { c: ['x'] }),
    ).toEqual({ categories: undefined, status: 'active' });
  });
});

describe('a deny list', () => {
  it('is taken from the allowed, or from all where none is allowed by name', () => {
    const countries = { at: 'country_allow', split: ',', except: 'country_block' };
    const of = (allow: string, block: string) =>
      recordOf('offers', { countries, status: 's' }, { country_allow: allow, country_block: block, s: 'active' });
    expect(of('DE,Germany,fr', 'FR, US')).toEqual({ countries: ['DE', 'DE'], status: 'active' });
    expect(of('', 'FR').countries).toHaveLength(248);
    expect(of('FR', 'fr')).toEqual({ countries: undefined, status: 'paused' });
    expect(of('FR', '')).toEqual({ countries: ['FR'], status: 'active' });
  });

  it('may stand in the same list as the allowed, told by a condition', () => {
    const rule = (type: string) => ({ each: 'platforms', at: 'label', rows: { at: 'targeting_type', is: type } });
    const devices = { ...rule('include'), except: rule('exclude') };
    const platforms = [{ label: 'Android', targeting_type: 'exclude' }];
    expect(recordOf('offers', { devices }, { platforms })).toEqual({ devices: ['ios', 'desktop'] });
    expect(recordOf('offers', { devices }, { platforms: [] })).toEqual({ devices: undefined });
  });

  it('warns of words that nobody understands, and loses none of its members', () => {
    const countries = { each: 'allow', at: 'code', except: 'deny' };
    expect(mapped('offers', { countries }, { deny: [{ code: 'Utopia' }, { code: 'US' }] })).toMatchObject({
      warnings: ['denied_country_unknown'],
    });
    expect(mapped('offers', { countries }, { deny: [{ code: 'US' }, { iso: 'FR' }] })).toMatchObject({
      fault: { field: 'countries', place: 'deny', problem: 'has 1 of 2 members without a value' },
    });
  });

  it('of other lists takes their words away', () => {
    const categories = { at: 'all', except: 'hidden' };
    expect(recordOf('offers', { categories }, { all: ['A', 'b'], hidden: [' B'] })).toEqual({ categories: ['A'] });
  });
});

describe('a further list', () => {
  const devices = { at: 'systems', within: { each: 'types', at: 'label', except: 'denied' } };
  const left = (record: object) => recordOf('offers', { devices, status: 's' }, { s: 'active', ...record });

  it('leaves members that are in both, in any spelling; an empty one says nothing', () => {
    expect(left({ systems: ['Android', 'Windows'], types: [{ label: 'phone' }] })).toMatchObject({
      devices: ['android'],
    });
    expect(left({ systems: [], types: [{ label: 'phone' }] })).toMatchObject({ devices: ['android', 'ios'] });
    expect(left({ systems: ['iPad'] })).toMatchObject({ devices: ['ios'] });
    expect(left({})).toEqual({ devices: undefined, status: 'active' });
    expect(left({ systems: ['iOS'], types: [{ label: 'desktop' }] })).toEqual({ devices: undefined, status: 'paused' });
    expect(left({ systems: ['iOS', 'web'], denied: [{ label: 'pc' }] })).toMatchObject({ devices: ['ios'] });
    const countries = { at: 'geo', within: 'licences' };
    expect(recordOf('offers', { countries }, { geo: ['Germany', 'FR'], licences: ['de', 'PL'] })).toEqual({
      countries: ['DE'],
    });
    const categories = { at: 'tags', within: 'shown' };
    expect(recordOf('offers', { categories }, { tags: ['Games', 'Quiz'], shown: ['games'] })).toEqual({
      categories: ['Games'],
    });
  });

  it('never comes to mean everywhere', () => {
    expect(left({ systems: ['iOS'], types: [{ label: 'fridge' }] })).toMatchObject({ devices: ['fridge'] });
    expect(left({ systems: ['iOS'], types: [{ other: 1 }] })).toMatchObject({ devices: { unread: [{}] } });
    expect(left({ systems: [{ x: 'iOS' }], types: [{ label: 'pc' }] })).toMatchObject({ devices: ['{"x":"iOS"}'] });
  });
});

describe('the lowest of several amounts', () => {
  const payout = { each: 'payouts', at: 'payout', lowest: true, number: {} };

  it('counts, with a warning where they differ', () => {
    const record = { payouts: [{ payout: 10 }, { payout: '9.50', geo: 'IN' }, { geo: 'US' }] };
    expect(mapped('offers', { payout }, record)).toMatchObject({
      record: { payout: '9.5' },
      warnings: ['payout_differs_by_target'],
    });
    expect(mapped('offers', { payout }, { payouts: [{ payout: 2 }, { payout: '2.0' }] })).toMatchObject({
      warnings: [],
    });
    expect(recordOf('offers', { payout: { at: 'by', lowest: true } }, { by: { US: '10', DE: '9' } })).toEqual({
      payout: '9',
    });
  });

  it('is none where one of them is no number', () => {
    const result = mapped('offers', { payout }, { payouts: [{ payout: 10 }, { payout: '5-7' }] });
    expect(result).toMatchObject({
      record: { payout: { unread: [new JsonNumber('10'), '5-7'] } },
      fault: { field: 'payout' },
    });
  });
});

describe('milestones', () => {
  it('of one id count once, at the lowest amount', () => {
    const events = { each: 'goals', lowest: true, event_id: 'id', description: 'name', payout: 'pays' };
    const of = (goals: object[]) => mapped('offers', { events }, { goals });
    const goals = [
      { id: 'a', pays: '30' },
      { id: 'b', pays: '5' },
      { id: 'a', pays: '28', name: 'First deposit' },
      { id: 'a', pays: '29' },
    ];
    expect(of(goals)).toMatchObject({
      record: {
        events: [
          { event_id: 'a', payout: '28', description: 'First deposit' },
          { event_id: 'b', payout: '5' },
        ],
      },
      warnings: ['payout_differs_by_target'],
    });
    expect(of([goals[1] as object, { id: 'b', pays: '5.0' }])).toMatchObject({
      record: { events: [{}] },
      warnings: [],
    });
    // Landing refuses an offer of which one amount is not known.
    expect(of([{ id: 'a', pays: '5-7' }, goals[0] as object])).toMatchObject({ record: { events: [{}, {}] } });
  });

  it('are those of offers that have them', () => {
    const when = { at: 'multi', is: true };
    const events = { each: 'goals', when, event_id: 'id', payout: 'pays' };
    const of = (multi: boolean) => recordOf('offers', { events }, { multi, goals: [{ id: 'g', pays: '2' }] });
    expect(of(true)).toEqual({ events: [{ event_id: 'g', payout: '2' }] });
    expect(of(false)).toEqual({ events: undefined });
  });

  const events = {
    each: 'goals',
    rows: { at: 'status', not: ['deleted'] },
    event_id: { at: ['uuid', 'id'], words: { default: null } },
    description: { at: 'name', text: 'html' },
    payout: { each: 'payouts', at: 'amount', lowest: true },
  };

  it('are made of a list or a map of goals', () => {
    const goals = {
      11: { id: 11, name: 'A &amp; B', payouts: [{ amount: '2' }, { amount: '1.5' }] },
      12: { uuid: 'u', payouts: [{ amount: 3 }] },
      13: { id: 13, status: 'Deleted', payouts: [{ amount: 99 }] },
      14: { id: 'default', payouts: [{ amount: 99 }] },
    };
    expect(recordOf('offers', { events }, { goals })).toEqual({
      events: [
        { event_id: new JsonNumber('11'), description: 'A & B', payout: '1.5' },
        { event_id: 'u', payout: '3' },
      ],
    });
    expect(recordOf('offers', { events }, { goals: [] })).toEqual({ events: undefined });
    expect(recordOf('offers', { events }, { goals: { id: 'one', payouts: [{ amount: 1 }] } })).toEqual({
      events: [{ event_id: 'one', payout: '1' }],
    });
  });

  it('name what could not be read of them', () => {
    const result = mapped('offers', { events }, { goals: [{ id: 1, payouts: [{ amount: 'x' }] }] });
    expect(result).toMatchObject({ fault: { field: 'events.payout', place: 'payouts', problem: expect.any(String) } });
  });
});

/** Reason for which landing rejects an offer that a mapping made. */
function landingReject(result: MappedRecord): string | undefined {
  if ('passedOver' in result) return undefined;
  const reading = { currencyRates: {}, textCells: false, wallClock: new Date('2026-11-18T10:00:00Z') };
  const read = parseOfferRecord(jsonText(result.record), reading);
  return 'reject' in read ? read.reject : undefined;
}

describe('what cannot be read', () => {
  it('goes on in a form that landing rejects by the code of its field', () => {
    const record = { id: 'a', name: 'A', payout: '1.234', made: '2026-11-18T10:00:00Z' };
    const german = mapped('offers', { payout: { at: 'payout', number: { decimal: ',' } } }, record);
    expect(german).toMatchObject({
      record: { payout: { unread: '1.234' } },
      fault: { field: 'payout', place: 'payout', problem: '"1.234" is no number as "number" says' },
    });
    expect(landingReject(german)).toBe('bad_payout');
    const made = mapped('offers', { created_at: { at: 'made', time: '%d.%m.%Y' } }, record);
    expect(made).toMatchObject({ fault: { problem: '"2026-11-18T10:00:00Z" is not a time as "%d.%m.%Y" says' } });
    expect(landingReject(made)).toBe('bad_created_at');
    expect(landingReject(mapped('offers', {}, record))).toBeUndefined();
  });

  it('lets a time without an offset through, which landing names', () => {
    const created_at = { at: 'made', time: '%d.%m.%Y %H:%M' };
    const result = mapped('offers', { created_at }, { id: 'a', name: 'A', payout: 1, made: '18.11.2026 10:00' });
    expect(result).toMatchObject({ record: { created_at: '2026-11-18T10:00:00' } });
    expect(landingReject(result)).toBe('timestamp_without_offset');
  });

  it('is also a record that has no fields', () => {
    expect(mapped('offers', {}, 'text')).toMatchObject({
      fault: { field: '', problem: '"text" is no object with fields' },
    });
  });
});
