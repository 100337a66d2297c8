import { withOffset } from '../../time/iso-moment.ts';
import type { Microseconds } from '../../time/iso-moment.ts';
import { pageEndpoint } from '../endpoints/endpoint.ts';
import type { Bitset } from '../offers/bitset.ts';
import type { OfferType } from '../http/parameters.ts';
import type { PublishedSnapshot } from '../snapshot/published-snapshot.ts';
import type { ServedOffer } from '../offers/served-offer.ts';
import { hourly } from '../access/rate-limits.ts';
import type { SiteFeed } from '../offers/site-feed.ts';
import { linkEndC, templateC } from './offer-template.ts';
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
  page(snapshot, feed, { type, limit, offset, filters, includeRemoved }) {
    const matching = matchingOffers(snapshot, feed, type, filters);
    const offers = matching.slice(offset, limit);
    const total = matching.size;
    const counts = `"total":${total},"offset":${offset},"limit":${limit},"has_more":${offset + offers.length < total}`;
    const { updatedSince } = filters;
    const removed =
      includeRemoved && updatedSince !== undefined
        ? `,"removed":${removedText(snapshot, feed, matching, updatedSince)}`
        : '';
    const head = `{"success":true,"version":"v1",${counts},"offers":[`;
    return {
      head,
      offers,
      templates: snapshot.templatesOf(templateC, feed.links),
      feed,
      link: linkEndC(feed.encodedKey),
      tail: `]${removed}}`,
    };
  },
});

function matchingOffers(
  { index: offerIndex, offers }: PublishedSnapshot,
  feed: SiteFeed,
  type: OfferType,
  filters: FiltersC,
): Bitset {
  const matching = offerIndex.matching(type, filters);
  const { minPayout, updatedSince } = filters;
  if (minPayout !== undefined) {
    // A minimum too large to be a number exactly is still larger than every payout.
    matching.filterAtLeast(feed.prices().payouts, Number(minPayout));
  }
  if (updatedSince !== undefined)
    matching.filter((index) => changedAt(offers[index] as ServedOffer, feed) > updatedSince);
  return matching;
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
function removedText(snapshot: PublishedSnapshot, feed: SiteFeed, matching: Bitset, since: Microseconds): string {
  const unmatched = snapshot.offers
    .filter((offer) => changedAt(offer, feed) > since && !matching.has(offer.index))
    .map((offer): RemovedOffer => {
      const removed_at =
        feed.commissionChangedAt > offer.updatedAt ? feed.commissionChangedAtText : offer.updatedAtText;
      return { id: offer.id, removed_at, reason: 'no_match' };
    });
  const gone = snapshot.gone
    .filter((offer) => offer.changedAt > since)
    .map((offer): RemovedOffer => ({ id: offer.id, removed_at: withOffset(offer.removedAt), reason: offer.reason }));
  return JSON.stringify([...unmatched, ...gone].toSorted((one, other) => one.id - other.id));
}
