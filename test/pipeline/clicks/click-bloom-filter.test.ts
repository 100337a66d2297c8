import { expect, test } from 'vitest';
import { BloomFilter } from '../../../src/pipeline/clicks/click-bloom-filter.ts';

/** Well mixed 32-bit numbers, always the same. */
function mixed(number: number): number {
  let bits = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

const keyOf = (number: number) => ({ high: mixed(2 * number + 1), low: mixed(2 * number + 2) });

test.each([1, 20, 5_000])('a filter of %d keys never denies one of them, and denies nearly all others', (count) => {
  const filter = new BloomFilter(count);
  const keys = Array.from({ length: count }, (_, number) => keyOf(number));
  for (const { high, low } of keys) filter.add(high, low);
  expect(keys.filter((key) => !filter.mayHave(key))).toEqual([]);
  const others = Array.from({ length: 10_000 }, (_, number) => keyOf(1_000_000 + number));
  expect(others.filter((key) => filter.mayHave(key)).length).toBeLessThan(100);
});

test('the ends of the range of keys are within a filter', () => {
  const ends = [0, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1].flatMap((high) => [0, 2 ** 32 - 1].map((low) => ({ high, low })));
  const filter = new BloomFilter(ends.length);
  for (const { high, low } of ends) filter.add(high, low);
  expect(ends.every((key) => filter.mayHave(key))).toBe(true);
});

test('its size is known before it is made, and is twelve bits a key', () => {
  expect(new BloomFilter(1_000_000).bytes).toBe(BloomFilter.bytesFor(1_000_000));
  expect(BloomFilter.bytesFor(1_000_000) / 1_500_000).toBeCloseTo(1, 3);
  expect(BloomFilter.bytesFor(0)).toBe(new BloomFilter(0).bytes);
});
