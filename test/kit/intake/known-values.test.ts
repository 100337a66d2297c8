import { expect, it } from 'vitest';
import { knownState, timeForms } from '../../../src/kit/intake/known-values.ts';

it.each([
  ['Approved', 'credit'],
  ['paid out', 'credit'],
  ['HOLD', 'pending'],
  ['not_found', 'reject'],
  ['Refunded', 'chargeback'],
  ['2', undefined],
  ['constructor', undefined],
])('the state %s is %s', (word, state) => {
  expect(knownState(word)).toBe(state);
});

it('patterns of times are distinct, and each has an example that it fits', () => {
  expect(new Set(timeForms.map(({ pattern }) => pattern)).size).toBe(timeForms.length);
  const directive: Record<string, string> = {
    Y: String.raw`\d{4}`,
    b: '[A-Z][a-z]{2}',
    a: '[A-Z][a-z]{2}',
    p: '[AP]M',
    z: String.raw`[+-]\d{4}`,
    Z: 'GMT',
  };
  for (const { pattern, example } of timeForms) {
    const written = pattern.replaceAll(/%(.)/g, (_, letter: string) => directive[letter] ?? String.raw`\d{1,2}`);
    expect(example).toMatch(new RegExp(`^${written}$`));
  }
});
