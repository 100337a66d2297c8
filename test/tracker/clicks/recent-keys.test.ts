import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { keyOf, RecentKeys } from '../../../src/tracker/clicks/recent-keys.ts';
import { moments } from './moments.ts';

const minute = 60_000;

it('finds when a key came last, for exactly so long, whatever the clock did', () => {
  fc.assert(
    fc.property(moments, fc.infiniteStream(fc.boolean()), (taken, forgets) => {
      const keys = new RecentKeys(minute, 2 ** 16);
      const put = new Map<number, number>();
      for (const { text, now } of taken) {
        const key = keyOf(text);
        const place = keys.find(key, now);
        const last = put.get(key);
        const isDue = last !== undefined && last <= now && now - last < minute;
        expect(place === undefined ? undefined : keys.momentAt(place)).toBe(isDue ? last : undefined);
        expect(keys.put(key, now)).toBe(keys.find(key, now));
        put.set(key, now);
        if (forgets.next().value === false) continue;
        keys.forget(key);
        put.delete(key);
      }
    }),
  );
});

it('keeps as many as come, each its own, and the newest where there is no room for all', () => {
  const keys = new RecentKeys(minute, 2 ** 14);
  const known = (number: number) => keys.find(keyOf(`key ${number}`), 1e12) !== undefined;
  const count = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => from + index).filter(known).length;
  const put = (from: number, to: number) => {
    for (let number = from; number < to; number++) keys.put(keyOf(`key ${number}`), 1e12 - 1e6 + number);
  };
  put(998_000, 1_000_000);
  expect(count(998_000, 1_000_000)).toBe(2000);
  expect(count(1_000_000, 1_002_000)).toBe(0);
  put(900_000, 1_000_000);
  // Those of a quarter of the places are all there but for a few, which more than eight newer ones met.
  expect(count(996_000, 1_000_000)).toBeGreaterThan(3950);
  expect(count(900_000, 1_000_000)).toBeGreaterThan(2 ** 14 * 0.99);
  expect(count(900_000, 910_000)).toBe(0);
});

it('has a key for each text', () => {
  // Of so many two would meet twenty times in 32 bits, and once in ten thousand runs in 53.
  const texts = Array.from({ length: 400_000 }, () => randomBytes(12).toString('base64'));
  const keys = new Set(texts.map(keyOf));
  expect(keys.size).toBe(texts.length);
  expect([...keys].every((key) => Number.isSafeInteger(key) && key > 0)).toBe(true);
});
