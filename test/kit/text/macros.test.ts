import { expect, it } from 'vitest';
import { macrosIn, unfilledMacro, withPlainMacros } from '../../../src/kit/text/macros.ts';

it.each([
  '{tid}',
  '{{tid}}',
  '{{ tid }}',
  '${tid}',
  '{$tid}',
  '[tid]',
  '%tid%',
  '#tid#',
  '<tid>',
  '%7Btid%7D',
  '%5btid%5d',
])('%s is a macro that nobody filled', (value) => {
  expect(unfilledMacro(value)).toEqual({ written: value, name: 'tid' });
});

it.each(['{goal id}', '{{goal-id}}', '{}'])('%s is one, too, whatever its name', (value) => {
  expect(unfilledMacro(value)).toMatchObject({ written: value });
});

it.each(['tid', '5%', '[a b]', '#1', 'a{tid}', '100%25', ''])('%j is a value', (value) => {
  expect(unfilledMacro(value)).toBeUndefined();
});

it('an address keeps what is no macro that is known', () => {
  const address = 'https://a.example/{{other}}/[x]?f[tid]=1&a=%7Bother%7D&b=%20&amp;c={{tid}}#[tid]';
  expect(withPlainMacros(address, (name) => name === 'tid')).toBe(
    'https://a.example/{{other}}/[x]?f[tid]=1&a=%7Bother%7D&b=%20&c={tid}#[tid]',
  );
  expect(macrosIn(address).map(({ written }) => written)).toEqual(['{{other}}', '[x]', '%7Bother%7D', '{{tid}}']);
});
