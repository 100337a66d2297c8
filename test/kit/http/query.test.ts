import { expect, test } from 'vitest';
import { parseQuery, repeated, undecodable } from '../../../src/kit/http/query.ts';

test('names and values are percent-decoded UTF-8, with + for a space', () => {
  expect(parseQuery('a=1&b=x+y%2Bz&%63=%C3%A9')).toEqual({ a: '1', b: 'x y+z', c: 'é' });
});

test('a value may hold an equals sign', () => {
  expect(parseQuery('secret=a=b==')['secret']).toBe('a=b==');
});

test('an empty value counts as absent', () => {
  expect(parseQuery('a=&b&&=c&%zz=d')).toEqual({});
});

test('a name that stands twice is neither of its values', () => {
  expect(parseQuery('a=1&a=1')['a']).toBe(repeated);
  expect(parseQuery('a=&a=1')['a']).toBe(repeated);
  expect(parseQuery('a=1&%61=2')['a']).toBe(repeated);
});

test.each(['%', '%4', '%zz', '%ff', '%c3'])('%s is undecodable', (value) => {
  expect(parseQuery(`a=${value}&b=1`)['a']).toBe(undecodable);
});

test('names of the language have no meaning', () => {
  expect(parseQuery('a=1')['constructor']).toBeUndefined();
  expect(parseQuery('__proto__=x')['__proto__']).toBe('x');
});
