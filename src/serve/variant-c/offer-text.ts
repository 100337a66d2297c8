import { payoutsBetween } from '../milestones.ts';
import type { TextForm } from '../offer-texts.ts';

/** Offers of Variants A and C. What `link` goes on with follows `…/user/`. */
export const formC: TextForm = {
  name: 'c',
  cut({ c: parts, multireward, updatedAtText }, links) {
    const image = parts.image === '' ? '' : `${links.pictures}${parts.image}`;
    const [beforeEvents, ...events] = multireward ? parts.events : [''];
    const afterUpdatedAt = multireward ? `${parts.afterUpdatedAt},"events":${beforeEvents}` : `${parts.afterUpdatedAt}}`;
    if (multireward) events.push(`${events.pop()}}`);
    return [
      `${parts.beforeImage}${image}","payout":`,
      `${parts.beforeLink}${links.tracking}${parts.beforeUser}`,
      `","updated_at":"${updatedAtText}${afterUpdatedAt}`,
      afterUpdatedAt,
      ...events,
    ];
  },
  fill(pieces, offer, feed, link) {
    const [beforePayout, beforeLink, afterLink, afterUpdatedAt] = pieces;
    const rest = feed.commissionChangedAt > offer.updatedAt ? `","updated_at":"${feed.commissionChangedAtText}${afterUpdatedAt}` : afterLink;
    const start = `${beforePayout}${feed.prices.payoutText(offer)}${beforeLink}${link}${rest}`;
    return offer.multireward ? start + payoutsBetween(feed.prices.eventPayoutTexts(offer), pieces, 4) : start;
  },
};

/** What the link goes on with; the user is percent-encoded, or the placeholder for one. */
export function linkEndC(encodedKey: string, user = '{user_id}'): string {
  return `${user}/site/${encodedKey}`;
}
