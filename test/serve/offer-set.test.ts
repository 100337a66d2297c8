import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OfferSet } from '../../src/serve/offers/bitset.ts';

const offers = 100;
const positions = fc.uniqueArray(fc.nat({ max: offers - 1 }));

function setOf(members: readonly number[]): OfferSet {
  const set = new OfferSet(offers);
  for (const position of members) set.add(position);
  return set;
}

function membersOf(set: OfferSet): number[] {
  return set.slice(0, offers);
}

test('is the set that a plain one would be, through any filters and at any page', () => {
  fc.assert(
    fc.property(
      positions,
      positions,
      positions,
      fc.nat({ max: 110 }),
      fc.integer({ min: 1, max: 110 }),
      fc.nat({ max: 4 }),
      (all, one, other, offset, limit, least) => {
        const set = setOf(all);
        const narrowed = setOf(other);
        narrowed.become(set);
        narrowed.keep(setOf(one), setOf(other));
        const values = Float64Array.from({ length: offers }, (_value, position) => position % 5);
        narrowed.keepFrom(values, least);
        narrowed.keepWhere((position) => position % 7 !== 3);
        const expected = all
          .filter((position) => one.includes(position) || other.includes(position))
          .filter((position) => position % 5 >= least && position % 7 !== 3)
          .toSorted((a, b) => a - b);
        expect(membersOf(narrowed)).toEqual(expected);
        expect(narrowed.size).toBe(expected.length);
        expect(narrowed.slice(offset, limit)).toEqual(expected.slice(offset, offset + limit));
        expect(
          Array.from({ length: offers }, (_value, position) => position).filter((position) => narrowed.has(position)),
        ).toEqual(expected);
        expect(membersOf(set), 'the copied one stays as it was').toEqual(all.toSorted((a, b) => a - b));
      },
    ),
  );
});

test('one filter alone', () => {
  const set = setOf([0, 31, 32, 99]);
  set.keep(setOf([31, 32, 50]));
  expect(membersOf(set)).toEqual([31, 32]);
});
