import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalRules, isOffered, type OfferRules, type OfferSelector } from '../../../src/kit/sites/offer-rules.ts';
import { formats } from '../../../src/kit/vocabulary/values.ts';
import { OfferIndex } from '../../../src/serve/offers/offer-index.ts';
import { feedOffer } from '../../support/published-snapshot.ts';

const sources = ['north', 'south'];
const categories = ['Games', 'games', 'GAMES', 'Surveys'];
const anyFeedOffer = fc.record({
  source: fc.constantFrom(...sources),
  categories: fc.uniqueArray(fc.constantFrom(...categories), { maxLength: 2 }),
  formats: fc.uniqueArray(fc.constantFrom(...formats), { maxLength: 2 }),
});
const selector: fc.Arbitrary<OfferSelector> = fc.oneof(
  fc.record({ offer: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ source: fc.constantFrom(...sources, 'nobody') }),
  fc.record({ category: fc.constantFrom(...categories, 'none') }),
  fc.record({ format: fc.constantFrom(...formats) }),
);
const selectors = fc.array(selector, { minLength: 1, maxLength: 4 });
const anyRules: fc.Arbitrary<OfferRules> = fc.record({ allow: selectors, deny: selectors }, { requiredKeys: [] });

test('feeds offer what the tracker lets through, in any spelling of the rules', () => {
  fc.assert(
    fc.property(fc.array(anyFeedOffer, { maxLength: 10 }), anyRules, (drafts, rules) => {
      const offers = drafts.map((draft, place) => feedOffer({ id: place + 1, ...draft }));
      const index = new OfferIndex(offers.length);
      for (const [place, offer] of offers.entries()) index.add(place, offer);
      const offered = index.offered(canonicalRules(rules));
      const ids = offers.filter((_, place) => offered?.has(place) ?? true).map(({ id }) => id);
      expect(ids).toEqual(offers.filter((offer) => isOffered(rules, offer)).map(({ id }) => id));
    }),
  );
});
