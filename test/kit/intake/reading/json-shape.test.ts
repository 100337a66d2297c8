import { expect, it } from 'vitest';
import { jsonShape, noNames } from '../../../../src/kit/intake/reading/json-shape.ts';

const lines = (...values: object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('');
const shapeOf = (text: string, mapped?: string[]) =>
  jsonShape(text, true, { ...noNames, ...(mapped && { mapped }) })?.kind;

it.each([
  ['a list of texts', lines({ id: 1, geo: ['DE'] }, { id: 2, geo: ['FR', 'US'] })],
  ['a list of objects, and an id of its own', lines({ id: 1, goals: [{ n: 1 }] }, { id: 2, goals: [{ n: 1 }] })],
  ['a list and a longer name of an id', lines({ offerId: 'a', goals: [] }, { offerId: 'b', goals: [{ n: 1 }] })],
])('lines of records that have %s are a record each', (_what, text) => {
  expect(shapeOf(text)).toBe('ndjson');
});

it.each([
  ['the same id', lines({ id: 1, data: [{ n: 1 }] }, { id: 1, data: [{ n: 2 }] })],
  ['an id of the request', lines({ request_id: 1, data: [{ n: 1 }] }, { request_id: 2, data: [{ n: 2 }] })],
  ['no id', lines({ paid: 1, data: [{ n: 1 }] }, { paid: 2, data: [{ n: 2 }] })],
])('lines of answers that have %s hold the records in their lists', (_what, text) => {
  expect(shapeOf(text)).toBe('json');
});

it('a mapping says by which name a record is one, unless the members of its list have that', () => {
  expect(shapeOf(lines({ key: 1, goals: [{ n: 1 }] }), ['key'])).toBe('ndjson');
  expect(shapeOf(lines({ key: 1, goals: [{ n: 1 }] }))).toBe('json');
  expect(shapeOf(lines({ key: 1, items: [{ key: 2 }] }), ['key'])).toBe('json');
  expect(shapeOf(lines({ key: 1, items: [{ key: 2 }] }, { key: 2, items: [{ key: 3 }] }), ['key'])).toBe('json');
});
