import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Bitset } from '../../../src/serve/offers/bitset.ts';

const offers = 100;
const indexes = fc.uniqueArray(fc.nat({ max: offers - 1 }));

function setOf(members: readonly number[]): Bitset {
  const set = new Bitset(offers);
  for (const index of members) set.add(index);
  return set;
}

function membersOf(set: Bitset): number[] {
  return set.slice(0, offers);
}

test('is the set that a plain one would be, through any filters and at any page', () => {
  fc.assert(
    fc.property(
      indexes,
      indexes,
      indexes,
      fc.nat({ max: 110 }),
      fc.integer({ min: 1, max: 110 }),
      fc.nat({ max: 4 }),
      (all, one, other, offset, limit, least) => {
        const set = setOf(all);
        const narrowed = set.copy();
        narrowed.intersect(setOf(one), setOf(other));
        const values = Float64Array.from({ length: offers }, (_value, index) => index % 5);
        narrowed.filterAtLeast(values, least);
        narrowed.filter((index) => index % 7 !== 3);
        const expected = all
          .filter((index) => one.includes(index) || other.includes(index))
          .filter((index) => index % 5 >= least && index % 7 !== 3)
          .toSorted((a, b) => a - b);
        expect(membersOf(narrowed)).toEqual(expected);
        expect(narrowed.size).toBe(expected.length);
        expect(narrowed.slice(offset, limit)).toEqual(expected.slice(offset, offset + limit));
        expect(Array.from({ length: offers }, (_value, index) => index).filter((index) => narrowed.has(index))).toEqual(
          expected,
        );
        expect(membersOf(set), 'the copied one stays as it was').toEqual(all.toSorted((a, b) => a - b));
      },
    ),
  );
});

test('one filter alone', () => {
  const set = setOf([0, 31, 32, 99]);
  set.intersect(setOf([31, 32, 50]));
  expect(membersOf(set)).toEqual([31, 32]);
});
