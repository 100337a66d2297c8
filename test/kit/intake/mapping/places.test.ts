import { expect, it } from 'vitest';
import { valueAt } from '../../../../src/kit/intake/mapping/places.ts';
import { parseJson } from '../../../../src/kit/text/json-text.ts';

const record = parseJson(
  '{"geo": {"country": "DE", "city.name": "Bonn", "": "empty"}, "geo.country": "FR", "list": [{"a": 1}], "none": null}',
);

it('follows keys and indexes', () => {
  expect(valueAt(record, 'list.0.a')).toEqual(parseJson('1'));
  expect(valueAt(record, 'geo.city.name')).toBe('Bonn');
  expect(valueAt(record, 'geo.')).toBe('empty');
  expect(valueAt(record, '')).toBe(record);
});

it('prefers a key with dots to the path of the same text', () => {
  expect(valueAt(record, 'geo.country')).toBe('FR');
});

it('gives nothing for null, missing keys and those that every object has', () => {
  for (const place of ['none', 'none.a', 'list.1.a', 'list.a', 'toString', 'geo.country.x', '__proto__'])
    expect(valueAt(record, place)).toBeUndefined();
});
