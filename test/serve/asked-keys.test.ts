import { expect, test } from 'vitest';
import { AskedKeys } from '../../src/serve/pages/asked-keys.ts';

test('knows a key again, also after thousands of others', () => {
  const keys = new AskedKeys();
  expect(keys.isAskedAgain('a')).toBe(false);
  expect(keys.isAskedAgain('a')).toBe(true);
  for (let other = 0; other < 4000; other++) keys.isAskedAgain(`other ${other}`);
  expect(keys.isAskedAgain('a')).toBe(true);
});

test('forgets what was not asked for again among many more, and never remembers long keys', () => {
  const keys = new AskedKeys();
  keys.isAskedAgain('a');
  for (let other = 0; other < 10_000; other++) keys.isAskedAgain(`other ${other}`);
  expect(keys.isAskedAgain('a')).toBe(false);
  const long = 'x'.repeat(500);
  keys.isAskedAgain(long);
  expect(keys.isAskedAgain(long)).toBe(false);
});
