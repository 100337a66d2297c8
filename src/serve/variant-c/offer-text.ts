import { milestonesText } from '../milestones.ts';
import type { ServedOffer } from '../served-offer.ts';
import type { SiteFeed } from '../site-feed.ts';

/** One offer for one site, whose link leads on in the name of a user: percent-encoded, or the placeholder for one. */
export function offerTextC(offer: ServedOffer, feed: SiteFeed, user = '{user_id}'): string {
  const parts = offer.c;
  const image = parts.image === '' ? '' : `${feed.links.pictures}${parts.image}`;
  const payout = feed.prices.payoutText(offer);
  const link = `${feed.links.tracking}${parts.beforeUser}${user}/site/${feed.encodedKey}`;
  const start = `${parts.beforeImage}${image}","payout":${payout}${parts.beforeLink}${link}`;
  const updatedAt = feed.commissionChangedAt > offer.updatedAt ? feed.commissionChangedAtText : offer.updatedAtText;
  const whole = `${start}","updated_at":"${updatedAt}${parts.afterUpdatedAt}`;
  return offer.multireward ? `${whole},"events":${milestonesText(parts.events, feed.prices.eventPayoutTexts(offer))}}` : `${whole}}`;
}
