import { expect, it } from 'vitest';
import { retryAfterSeconds } from '../../../src/postbacks/rules/retry-after.ts';

const now = Date.UTC(2026, 10, 20, 12, 0, 0);

it.each([
  ['0', 0],
  ['120', 120],
  ['86400', 86_400],
  ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ['Fri, 20 Nov 2026 12:01:30 GMT', 90],
  ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
  ['Fri, 99 Nov 2026 12:01:30 GMT', null],
  ['tomorrow', null],
  ['-5', null],
  ['1.5', null],
  ['', null],
])('"%s" asks for %s seconds', (text, seconds) => {
  expect(retryAfterSeconds(text, undefined, now)).toBe(seconds);
});

it('reads a date against the clock of the answer, where that is given', () => {
  expect(retryAfterSeconds('Fri, 20 Nov 2026 15:01:30 GMT', 'Fri, 20 Nov 2026 15:00:00 GMT', now)).toBe(90);
  expect(retryAfterSeconds('Fri, 20 Nov 2026 12:01:30 GMT', 'no date', now)).toBe(90);
});

it('asks for nothing where there is none', () => {
  expect(retryAfterSeconds(undefined, undefined, now)).toBeNull();
});
