import { expect, test } from 'vitest';
import { readQueryString, repeated, undecodable } from '../../../src/kit/http/query.ts';

test('names and values are percent-decoded UTF-8, with + for a space', () => {
  expect(readQueryString('a=1&b=x+y%2Bz&%63=%C3%A9')).toEqual({ a: '1', b: 'x y+z', c: 'é' });
});

test('a value may hold an equals sign', () => {
  expect(readQueryString('secret=a=b==')['secret']).toBe('a=b==');
});

test('an empty value counts as absent', () => {
  expect(readQueryString('a=&b&&=c&%zz=d')).toEqual({});
});

test('a name that stands twice is neither of its values', () => {
  expect(readQueryString('a=1&a=1')['a']).toBe(repeated);
  expect(readQueryString('a=&a=1')['a']).toBe(repeated);
  expect(readQueryString('a=1&%61=2')['a']).toBe(repeated);
});

test.each(['%', '%4', '%zz', '%ff', '%c3'])('%s is undecodable', (value) => {
  expect(readQueryString(`a=${value}&b=1`)['a']).toBe(undecodable);
});

test('names of the language have no meaning', () => {
  expect(readQueryString('a=1')['constructor']).toBeUndefined();
  expect(readQueryString('__proto__=x')['__proto__']).toBe('x');
});
