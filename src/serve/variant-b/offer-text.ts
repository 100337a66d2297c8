import { milestonesText } from '../milestones.ts';
import type { ServedOffer } from '../served-offer.ts';
import type { SiteFeed } from '../site-feed.ts';

/** One offer for one site, without the closing brace: top-converting has more to say. */
export function openOfferB(offer: ServedOffer, feed: SiteFeed): string {
  const parts = offer.b;
  const start = `${parts.beforePayout}${feed.prices.payoutText(offer)}${parts.beforeLink}${feed.links.tracking}${parts.link}${feed.encodedKey}"`;
  return offer.multireward ? `${start},"events":${milestonesText(parts.events, feed.prices.eventPayoutTexts(offer))}` : start;
}
