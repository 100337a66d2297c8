import { expect, it } from 'vitest';
import { parseJson, type JsonValue } from '../../../src/kit/text/json-text.ts';
import { NetworkRecord } from '../../../src/sources/records/record-fields.ts';
import { tracedPlaces } from '../../../src/sources/records/traced-places.ts';

const record = parseJson(
  JSON.stringify({
    id: 7,
    name: 'Castle',
    short_name: 'C.',
    currency: 'USD',
    expired: '0',
    cap: null,
    geo: { Country: { DE: { code: 'DE', id: 3 }, AT: { code: 'AT', id: 4 } } },
    tags: ['a', 'b'],
    goals: [
      { key: 'x', pays: 1 },
      { key: 'y', pays: 2 },
    ],
    theirs: { a: { b: 1 } },
  }),
) as JsonValue;

function convert(value: JsonValue) {
  const read = new NetworkRecord(value);
  return {
    external_id: read.text('id'),
    title: read.firstText('name', 'short_name'),
    currency: read.text('currency') ?? 'USD',
    status: read.flag('expired') ? 'paused' : 'active',
    daily_cap: read.text('cap'),
    countries: read.keys('geo.Country'),
    categories: read.texts('tags'),
    events: read.records('goals').map((goal) => ({ event_id: goal.text('key') ?? '' })),
  };
}

const placesOf = (field: string) =>
  tracedPlaces(record, convert)
    .filter(({ fields }) => fields.includes(field))
    .map(({ place }) => place);

it.each([
  ['external_id', ['id']],
  ['title', ['name']],
  // What is there by default, too, is found.
  ['currency', ['currency']],
  ['status', ['expired']],
  ['daily_cap', ['cap']],
  ['countries', ['geo.Country[]']],
  ['categories', ['tags']],
  ['events', ['goals[].key']],
])('%s comes from %o', (field, places) => {
  expect(placesOf(field)).toEqual(places);
});

it('places that nothing is made of have no fields', () => {
  const unused = tracedPlaces(record, convert).filter(({ fields }) => fields.length === 0);
  expect(unused.map(({ place }) => place)).toEqual([
    'short_name',
    'geo.Country[].code',
    'geo.Country[].id',
    'goals[].pays',
    'theirs.a.b',
  ]);
});

it('the values of all members are those of a list', () => {
  expect(tracedPlaces(record, convert).find(({ place }) => place === 'goals[].key')?.value).toEqual(['x', 'y']);
});
