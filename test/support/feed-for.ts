import type { SiteTerms } from '../../src/kit/sites/site-terms.ts';
import type { Links } from '../../src/serve/offers/links.ts';
import { OfferIndex } from '../../src/serve/offers/offer-index.ts';
import { Prices } from '../../src/serve/offers/prices.ts';
import type { ServedOffer } from '../../src/serve/offers/served-offer.ts';
import { SharedFeed } from '../../src/serve/offers/shared-feed.ts';
import { feedOf, type SiteFeed } from '../../src/serve/offers/site-feed.ts';

/** The terms of a site that may have all offers at one commission. */
export const termsAt = (commission: string): SiteTerms => ({ commission, commissions: [], offers: {} });

/** The feed of a site that may have all these offers; its commission is another since `changedAt`. */
export function feedFor(
  siteKey: string,
  offers: readonly ServedOffer[],
  links: Links,
  { commission = '0', changedAt = null }: { commission?: string; changedAt?: string | null } = {},
): SiteFeed {
  const terms = termsAt(commission);
  const history =
    changedAt === null
      ? { first: terms, changes: [] }
      : { first: termsAt('1'), changes: [{ validFrom: changedAt, terms }] };
  const pricesAt = (at: SiteTerms) => new Prices(at, offers);
  return feedOf(
    siteKey,
    new SharedFeed(history, { offers, ranked: [], index: new OfferIndex(offers.length), pricesAt }),
    links,
  );
}
