import { pageEndpoint } from '../endpoint.ts';
import type { Microseconds } from '../moments.ts';
import { withOffset } from '../moments.ts';
import type { PublishedSnapshot } from '../published-snapshot.ts';
import type { ServedOffer } from '../served-offer.ts';
import { hourly } from '../rate-limits.ts';
import type { SiteFeed } from '../site-feed.ts';
import { offerTextC } from './offer-text.ts';
import { keyOfParametersC, readParametersC } from './parameters.ts';
import type { FiltersC } from './parameters.ts';
import { variantC } from './variant.ts';

/** `GET /api/v1/offers` of Variant C. */
export const offersC = pageEndpoint({
  variant: variantC,
  limit: hourly('C offers'),
  name: 'offers-c',
  read: readParametersC,
  key: keyOfParametersC,
  write(snapshot, feed, { type, limit, offset, filters, includeRemoved }) {
    const matching = snapshot.offersOf(type).filter((offer) => matches(offer, feed, filters));
    const page = matching.slice(offset, offset + limit).map((offer) => offerTextC(offer, feed));
    const total = matching.length;
    const counts = `"total":${total},"offset":${offset},"limit":${limit},"has_more":${offset + page.length < total}`;
    const { updatedSince } = filters;
    const removed = includeRemoved && updatedSince !== undefined ? `,"removed":${removedText(snapshot, feed, matching, updatedSince)}` : '';
    return `{"success":true,"version":"v1",${counts},"offers":[${page.join(',')}]${removed}}`;
  },
});

function matches(offer: ServedOffer, feed: SiteFeed, filters: FiltersC): boolean {
  const { country, device, category, minPayout, updatedSince } = filters;
  return (
    (country === undefined || offer.countries.size === 0 || offer.countries.has(country)) &&
    (device === undefined || offer.devices.length === 0 || offer.devices.includes(device)) &&
    (category === undefined || offer.categories.includes(category)) &&
    (minPayout === undefined || feed.prices.payout(offer) >= minPayout) &&
    (updatedSince === undefined || changedAt(offer, feed) > updatedSince)
  );
}

/** An offer also changes for a site when the site's commission does. */
function changedAt(offer: ServedOffer, feed: SiteFeed): Microseconds {
  return Math.max(offer.updatedAt, feed.commissionChangedAt);
}

interface RemovedOffer {
  id: number;
  removed_at: string;
  reason: 'vanished' | 'paused' | 'no_match';
}

/**
 * Every offer that changed or went after the moment and is not in the answer's unpaged result, so that a publisher
 * who syncs by `updated_since` can drop it. One that is active but no longer matches left when it last changed.
 */
function removedText(snapshot: PublishedSnapshot, feed: SiteFeed, matching: readonly ServedOffer[], since: Microseconds): string {
  const listed = new Set(matching);
  const unmatched = snapshot.offers
    .filter((offer) => changedAt(offer, feed) > since && !listed.has(offer))
    .map((offer): RemovedOffer => {
      const removed_at = feed.commissionChangedAt > offer.updatedAt ? feed.commissionChangedAtText : offer.updatedAtText;
      return { id: offer.id, removed_at, reason: 'no_match' };
    });
  const gone = snapshot.gone
    .filter((offer) => offer.changedAt > since)
    .map((offer): RemovedOffer => ({ id: offer.id, removed_at: withOffset(offer.removedAt), reason: offer.reason }));
  return JSON.stringify([...unmatched, ...gone].toSorted((one, other) => one.id - other.id));
}
