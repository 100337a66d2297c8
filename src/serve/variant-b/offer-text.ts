import { payoutsBetween } from '../milestones.ts';
import type { TextForm } from '../offer-texts.ts';

/** Offers of Variant B, without the closing brace: top-converting has more to say. `link` is the site's key. */
export const openFormB: TextForm = {
  name: 'b',
  cut({ b: parts, multireward }, links) {
    const [beforeEvents, ...events] = parts.events;
    const afterLink = multireward ? `","events":${beforeEvents}` : '"';
    return [parts.beforePayout, `${parts.beforeLink}${links.tracking}${parts.link}`, afterLink, ...events];
  },
  fill(pieces, offer, feed, link) {
    const [beforePayout, beforeLink, afterLink] = pieces;
    const start = `${beforePayout}${feed.prices.payoutText(offer)}${beforeLink}${link}${afterLink}`;
    return offer.multireward ? start + payoutsBetween(feed.prices.eventPayoutTexts(offer), pieces, 3) : start;
  },
};
