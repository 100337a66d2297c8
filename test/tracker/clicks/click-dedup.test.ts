import { expect, it } from 'vitest';
import { ClickDedup } from '../../../src/tracker/clicks/click-dedup.ts';

const at = 1e12;
const recorded = Promise.resolve();

it('forgets a click after five seconds, and finds none that lies ahead of a clock that was set back', () => {
  const dedup = new ClickDedup();
  dedup.add('a', { at, location: 'x', recorded });
  expect([at - 1, at, at + 4999, at + 5000].map((now) => dedup.find('a', now)?.location)).toEqual([
    undefined,
    'x',
    'x',
    undefined,
  ]);
});

it('forgets a click that was not recorded, but not the next one in its place', async () => {
  const dedup = new ClickDedup();
  const first = Promise.withResolvers<void>();
  dedup.add('a', { at, location: 'first', recorded: first.promise });
  dedup.add('b', { at, location: 'b', recorded: first.promise });
  dedup.add('a', { at, location: 'second', recorded });
  first.reject(new Error('the disk is full'));
  await expect(first.promise).rejects.toThrow();
  expect([dedup.find('a', at)?.location, dedup.find('b', at)]).toEqual(['second', undefined]);
});

it('keeps at most 16 million characters of addresses, the newest', () => {
  const dedup = new ClickDedup();
  const location = 'x'.repeat(2 ** 20);
  for (let number = 0; number < 100; number++) dedup.add(`${number}`, { at, location, recorded });
  const kept = Array.from({ length: 100 }, (_, number) => dedup.find(`${number}`, at) !== undefined);
  expect(kept.indexOf(true)).toBe(85);
  expect(kept.lastIndexOf(false)).toBe(84);
});
