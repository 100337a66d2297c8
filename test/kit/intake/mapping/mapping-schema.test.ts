import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { settingsOf } from '../../../../src/cli/reference/settings-page.ts';
import { clickSchema, conversionSchema } from '../../../../src/pipeline/landing/logs/log-fields.ts';
import { mappedFields } from '../../../../src/kit/intake/mapping/mapped-fields.ts';
import { fieldsSchema, fileMappingSchema, mappingForFile } from '../../../../src/kit/intake/mapping/mapping-schema.ts';

const schema = z.strictObject({ files: z.array(fileMappingSchema) });
const click = { click_id: 'id', offer_id: 'offer', site_key: 'site', user_id: 'user', clicked_at: 'time' };
const offer = { external_id: 'id', title: 'name', payout: 'payout' };
const conversion = { conversion_id: 'id', click_id: 'sub', occurred_at: 'time', payout: 'amount' };

/** Problems of a setting, each as `place: problem`. */
function problemsOf(file: Record<string, unknown>): string[] {
  const { error } = schema.safeParse({ files: [file] });
  return (error?.issues ?? []).map(({ path, message }) => {
    const place = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
    return `${place.slice(1)}: ${message}`;
  });
}

it('knows the fields that logs have', () => {
  const reading = { wallClock: '2026-11-18T10:00:00Z' };
  const names = (of: { fields: { name: string }[] }) => of.fields.map(({ name }) => name).toSorted();
  expect([...mappedFields.clicks.names].toSorted()).toEqual(names(clickSchema(reading)));
  expect(mappedFields.conversions.names).toEqual(expect.arrayContaining(names(conversionSchema(reading))));
});

it('reads short forms as full ones', () => {
  const [file] = schema.parse({
    files: [{ match: 'clicks/a/**', rows: { at: 'type', is: 'click' }, fields: { ...click, user_id: { at: 'uid' } } }],
  }).files;
  expect(file).toMatchObject({
    kind: 'clicks',
    format: {},
    rows: [{ at: 'type', is: ['click'] }],
    fields: { fields: { click_id: { at: ['id'] }, user_id: { at: ['uid'] } } },
  });
});

it('finds the first mapping for a file', () => {
  const { files } = schema.parse({
    files: ['clicks/voluum/*.csv', 'clicks/{voluum,binom}/**', 'clicks/**'].map((match) => ({ match })),
  });
  const match = (path: string) => mappingForFile(files, path)?.match;
  expect(match('clicks/voluum/a.csv')).toBe('clicks/voluum/*.csv');
  expect(match('clicks/voluum/2026/a.csv')).toBe('clicks/{voluum,binom}/**');
  expect(match('clicks/a.csv')).toBe('clicks/**');
  expect(match('offers/a/a.csv')).toBeUndefined();
});

describe('a mistake is named by its place', () => {
  it.for<[Record<string, unknown>, string, string]>([
    [{ match: '**/*.csv' }, 'files[0].match', 'does not begin with offers/, clicks/ or conversions/'],
    [{ match: 'clicks/**', format: { delimiter: ';;' } }, 'files[0].format.delimiter', 'is not one character between'],
    [{ match: 'clicks/**', format: { header: 0.5 } }, 'files[0].format.header', 'is neither the number of the row'],
    [{ match: 'clicks/**', rows: [{ at: 'a' }] }, 'files[0].rows[0]', 'says not one of "is" and "not"'],
    [{ match: 'clicks/**', rows: { at: 'a', is: [{}] } }, 'files[0].rows.is[0]', 'is not a text, a number'],
    [{ match: 'clicks/**', fields: { ...click, user: 'a' } }, 'files[0].fields', '"user": no field of ours; there are'],
    [{ match: 'clicks/**', format: { encoding: 'klingon' } }, 'files[0].format.encoding', 'is no encoding'],
    [{ match: 'clicks/**', fields: {} }, 'files[0].fields', 'lacks click_id, without which every record is rejected'],
  ])('%o', ([file, place, message]) => {
    expect(problemsOf(file)).toEqual(expect.arrayContaining([expect.stringContaining(`${place}: ${message}`)]));
  });

  const fields: [kind: 'clicks' | 'offers' | 'conversions', fields: Record<string, unknown>, problem: string][] = [
    ['offers', { payout: { at: 'p', number: { decimal: ';' } } }, '.payout.number.decimal: is neither "." nor ","'],
    ['offers', { payout: { at: 'p', number: { decimal: 5 } } }, '.payout.number.decimal: is neither "." nor ","'],
    ['offers', { payout: { at: 'p', number: { group: '.' } } }, '.payout.number.group: is the decimal point too'],
    ['offers', { payout: { at: 'p', number: { strip: [' '] } } }, '.payout.number.strip[0]: is blank'],
    ['offers', { payout: { at: 'p', numbr: {} } }, '.payout: has a key that nothing reads: numbr; there are at,'],
    ['offers', { payout: 5 }, '.payout: is a whole number: an object in braces is wanted'],
    ['offers', { payout: { at: ['p', 5] } }, '.payout.at[1]: is not a place such as "geo.country"'],
    ['offers', { payout: {} }, '.payout: names no place: give "at", "each" or "value"'],
    ['offers', { payout: { each: 'a', at: 'b' } }, '.payout.each: gives a list, and the field takes one value'],
    ['offers', { countries: { at: 'c', lowest: true } }, '.countries.lowest: is for one value, this field is a list'],
    [
      'offers',
      { title: { at: 'c', else: { at: 'd', split: ',' } } },
      '.title.split: gives a list, and the field takes',
    ],
    ['offers', { title: { at: ['c', 'd'], join: ' ', first: true } }, '.title.join: contradicts "first"'],
    ['offers', { countries: { each: 'c', at: 'd', all: true } }, '.countries.all: is for places without "each"'],
    ['offers', { countries: { at: 'c', rows: { at: 'a', is: 1 } } }, '.countries.rows: is for the members of "each"'],
    [
      'offers',
      { countries: { at: 'c', keys: true } },
      '.countries.keys: is for the members of "each", which is absent',
    ],
    ['offers', { countries: { each: 'c', at: 'd', keys: true } }, '.countries.keys: gives the names of the members'],
    ['offers', { payout: { each: 'c', keys: true, lowest: true } }, '.payout.keys: gives a list, and the field takes'],
    ['offers', { countries: { at: 'c', except: { split: ',' } } }, '.countries.except: names no place'],
    ['offers', { status: { at: 's', words: { on: 'live' } } }, '.status.words.on: is none of active, paused'],
    ['offers', { status: { at: 's', words: { On: 'active', 'on ': 'paused' } } }, '.status.words.on : has another'],
    ['offers', { status: { value: 'live' } }, '.status.value: is none of active, paused'],
    ['offers', { events: { each: 'e', event_id: 'id' } }, '.events.payout: is missing'],
    [
      'offers',
      { events: { each: 'e', event_id: { at: 'i', split: ',' }, payout: 'p' } },
      '.events.event_id.split: gives',
    ],
    ['offers', { title: { at: 't', lower: true, upper: true } }, '.title.upper: contradicts "lower"'],
    ['clicks', { clicked_at: { at: 't', time: '%Y-%m' } }, '.clicked_at.time: "%Y-%m" names no day'],
    ['clicks', { clicked_at: { at: 't', time: '%Y-%Q', zone: 'UTC' } }, '.clicked_at.time: "%Y-%Q" has %Q'],
    ['clicks', { clicked_at: { at: 't', zone: 'Berlin' } }, '.clicked_at.zone: is neither an IANA time zone'],
    ['clicks', { clicked_at: { at: 't', time: 'epoch_s', zone: 'UTC' } }, '.clicked_at.zone: contradicts "time"'],
    ['clicks', { clicked_at: { at: 't', time: 'epoch_s', number: {} } }, '.clicked_at.number: does not go with "time"'],
    ['clicks', { offer_id: undefined, external_id: 'e' }, ': lacks source'],
    ['conversions', { status: 's', kind: 'k' }, '.status: is for rows of state, "kind" for rows of events'],
    ['conversions', { status: { at: 's', words: { ok: 'approved' } } }, '.status.words.ok: is none of pending, credit'],
    ['conversions', {}, ': lacks kind or status'],
  ];
  it.for(fields)('%s %o', ([kind, given, problem]) => {
    const whole = { ...{ offers: offer, clicks: click, conversions: conversion }[kind], ...given };
    const present = Object.fromEntries(Object.entries(whole).filter(([, field]) => field !== undefined));
    expect(problemsOf({ match: `${kind}/**`, fields: present })).toEqual(
      expect.arrayContaining([expect.stringContaining(`files[0].fields${problem}`)]),
    );
  });
});

it('can be documented: every key has a description, and what its absence means', () => {
  const paths = settingsOf(schema).map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(['files[].match', 'files[].format.encoding', 'files[].rows', 'files[].fields']),
  );
  for (const kind of ['offers', 'clicks', 'conversions'] as const)
    expect(z.toJSONSchema(fieldsSchema(kind), { io: 'input', unrepresentable: 'any' })).toHaveProperty('properties');
});
