import { expect, it } from 'vitest';
import { headline } from '../../../src/kit/text/headline.ts';

it.each([
  ['one line', 'one line'],
  ['the first\nthe second', 'the first'],
  ['cannot be used:\n  line 9: is more than 1\n  line 12', 'cannot be used: line 9: is more than 1'],
  ['an end:', 'an end:'],
  ['', ''],
])('%j has the headline %j', (message, line) => {
  expect(headline(message)).toBe(line);
});
