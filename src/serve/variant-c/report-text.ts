import type { ServedOffer } from '../served-offer.ts';
import type { SiteFeed } from '../site-feed.ts';

/** One offer of the reports list for one site. */
export function reportText(offer: ServedOffer, feed: SiteFeed): string {
  const parts = offer.report;
  const payouts = feed.prices.eventPayoutTexts(offer);
  const events = parts.events.map((event, place) => `${event}${payouts[place]}}`).join(',');
  const icon = parts.icon === '' ? '' : `${feed.links.pictures}${parts.icon}`;
  const start = `${parts.beforePayout}${feed.prices.payoutText(offer)},"events":[${events}${parts.beforeIcon}${icon}`;
  const link = `${feed.links.tracking}${parts.link}${feed.encodedKey}`;
  return `${start}${parts.beforeLink}${link}${parts.beforeEpc}${feed.prices.epcText(offer)}${parts.afterEpc}`;
}
