import { milestonesText } from '../milestones.ts';
import type { ServedOffer } from '../served-offer.ts';
import type { SiteFeed } from '../site-feed.ts';

/** One offer for one site. */
export function offerTextC(offer: ServedOffer, feed: SiteFeed): string {
  const parts = offer.c;
  const image = parts.image === '' ? '' : `${feed.links.pictures}${parts.image}`;
  const payout = feed.prices.payoutText(offer);
  const start = `${parts.beforeImage}${image}","payout":${payout}${parts.beforeLink}${feed.links.tracking}${parts.link}${feed.encodedKey}`;
  const updatedAt = feed.commissionChangedAt > offer.updatedAt ? feed.commissionChangedAtText : offer.updatedAtText;
  const whole = `${start}","updated_at":"${updatedAt}${parts.afterUpdatedAt}`;
  return offer.multireward ? `${whole},"events":${milestonesText(parts.events, feed.prices.eventPayoutTexts(offer))}}` : `${whole}}`;
}
