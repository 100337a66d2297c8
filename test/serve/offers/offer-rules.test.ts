import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalRules, isOffered, type OfferRules, type OfferSelector } from '../../../src/kit/sites/offer-rules.ts';
import { offerCommissions, offerCommissionsSchema, commissionOf } from '../../../src/kit/sites/offer-commissions.ts';
import type { SiteTerms } from '../../../src/kit/sites/site-terms.ts';
import { momentOf } from '../../../src/kit/time/moment.ts';
import { formats } from '../../../src/kit/vocabulary/values.ts';
import { OfferIndex } from '../../../src/serve/offers/offer-index.ts';
import { serveOffer, type ServedOffer } from '../../../src/serve/offers/served-offer.ts';
import { SharedFeed } from '../../../src/serve/offers/shared-feed.ts';
import { Prices } from '../../../src/serve/offers/prices.ts';
import { termsAt } from '../../support/feed-for.ts';
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

/** A feed of these offers under terms that followed each other, one a second. */
function feedOverTime(drafts: readonly object[], [first, ...later]: readonly SiteTerms[]) {
  const index = new OfferIndex(drafts.length);
  let looks = 0;
  const offers = drafts.map((draft, place): ServedOffer => {
    const offer = feedOffer({ id: place + 1, updated_at: '1970-01-01T00:00:00Z', ...draft });
    index.add(place, offer);
    const served = serveOffer(offer, place, place);
    return Object.defineProperty({ ...served }, 'id', { get: () => (looks++, served.id) });
  });
  const changes = later.map((terms, place) => ({ validFrom: momentOf(BigInt(place + 1) * 1_000_000n), terms }));
  const feed = new SharedFeed(
    { first: first as SiteTerms, changes },
    { offers, ranked: [], index, pricesAt: (terms) => new Prices(terms, offers) },
  );
  return { looks, changes: offers.map((offer) => feed.changedAt(offer) / 1_000_000) };
}

const share = fc.constantFrom(0, 0.1, 0.5);
const anyCommission = fc.oneof(
  fc.record({ offer: fc.integer({ min: 1, max: 12 }), commission: share }),
  fc.record({ source: fc.constantFrom(...sources, 'nobody'), commission: share }),
);
const anyTerms: fc.Arbitrary<SiteTerms> = fc.record({
  commission: share.map(String),
  commissions: fc
    .uniqueArray(anyCommission, {
      maxLength: 4,
      selector: ({ commission: _commission, ...named }) => JSON.stringify(named),
    })
    .map((commissions) => offerCommissions(offerCommissionsSchema.parse(commissions))),
  offers: anyRules.map(canonicalRules),
});

test('an offer is updated by the last change of terms that concerns it', () => {
  const history = fc.array(anyTerms, { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(anyFeedOffer, { maxLength: 10 }), history, (drafts, terms) => {
      const shown = ({ commission, commissions, offers }: SiteTerms, draft: (typeof drafts)[number], id: number) => {
        const offer = feedOffer({ id, ...draft });
        return JSON.stringify([isOffered(offers, offer), commissionOf(commission, commissions)(offer)]);
      };
      const expected = drafts.map((draft, place) =>
        terms.findLastIndex(
          (each, at) => at > 0 && shown(each, draft, place + 1) !== shown(terms[at - 1] as SiteTerms, draft, place + 1),
        ),
      );
      expect(feedOverTime(drafts, terms).changes).toEqual(expected.map((at) => Math.max(at, 0)));
    }),
  );
});

test('terms that changed each day for a year cost little more than a look at each offer', () => {
  const drafts = Array.from({ length: 1000 }, () => ({}));
  const days = Array.from({ length: 366 }, (_, day) => day);
  const ofOne = days.map((day) => ({
    ...termsAt('0.2'),
    commissions: [{ offer: day + 1, source: null, commission: '0.3' }],
  }));
  const looks =
    feedOverTime(drafts, ofOne).looks +
    feedOverTime(
      drafts,
      days.map((day) => termsAt(`0.${day}`)),
    ).looks;
  expect(looks).toBeLessThan(5 * drafts.length);
});
