import { z } from 'zod';
import { isoMomentPattern, parseIsoMoment, withOffset } from '../../kit/time/iso-moment.ts';
import type { Microseconds } from '../../kit/time/iso-moment.ts';
import { decimalOf } from '../../kit/text/decimal-text.ts';
import { errorsBySecret, pageOperation } from '../endpoints/operation.ts';
import { choice, integer, offerType, pattern, siteKey, siteSecret, text } from '../http/parameters.ts';
import type { OfferType } from '../http/parameters.ts';
import type { Bitset } from '../offers/bitset.ts';
import { leastAmountFrom } from '../offers/money.ts';
import type { GoneOffer, PublishedSnapshot } from '../snapshot/published-snapshot.ts';
import type { ServedOffer } from '../offers/served-offer.ts';
import { hourly } from '../access/limits.ts';
import type { SiteFeed } from '../offers/site-feed.ts';
import { offersBodyC } from './bodies.ts';
import { linkEndC, templateC } from './offer-template.ts';
import { variantC } from './variant.ts';

const [defaultLimit, defaultOffset] = [100, 0];

interface FiltersC {
  /** ISO 3166-1 alpha-2, upper case. */
  country: string | undefined;
  device: string | undefined;
  /** In lower case. */
  category: string | undefined;
  /** Ten-thousandths of a USD, as published. */
  minPayout: number | undefined;
  /** Only what changed strictly after this moment. */
  updatedSince: Microseconds | undefined;
}

const querystring = z
  .object({
    site_key: siteKey,
    site_secret: siteSecret,
    type: offerType.optional().meta({ default: 'offer' }),
    // An alias is checked even where the name that it replaces wins.
    take: integer('take', 'Alias of limit', defaultLimit, 1, 500),
    skip: integer('skip', 'Alias of offset', defaultOffset, 0),
    limit: integer('limit', 'Most offers to return; wins over take', defaultLimit, 1, 500),
    offset: integer('offset', 'Leading offers to leave out; wins over skip', defaultOffset, 0),
    country: pattern(
      'country',
      'ISO 3166-1 alpha-2 in any case: offers available there',
      '^[A-Za-z]{2}$',
      'country must be a code of two letters such as US',
    ).optional(),
    device: choice('device', 'Offers for this device', ['android', 'ios', 'desktop']).optional(),
    category: text('category', 'Category name in any case').optional(),
    min_payout: pattern(
      'min_payout',
      'Least payout in USD, after commission',
      '^[0-9]+(\\.[0-9]+)?$',
      'min_payout must be plain digits with an optional fraction, such as 0.5',
    ).optional(),
    updated_since: pattern(
      'updated_since',
      'ISO 8601 date or date-time, UTC without an offset: offers updated after it',
      isoMomentPattern,
      'updated_since must be an ISO 8601 date or date-time such as 2026-11-20T08:00:00Z',
    ).optional(),
    include_removed: choice('include_removed', '1 with updated_since: also list what left the list since then', [
      '0',
      '1',
    ])
      .optional()
      .meta({ default: '0' }),
  })
  .transform(({ type = 'offer', limit, take, offset, skip, country, device, category, ...others }) => ({
    type,
    limit: limit ?? take ?? defaultLimit,
    offset: offset ?? skip ?? defaultOffset,
    filters: {
      country: country?.toUpperCase(),
      device,
      category: category?.toLowerCase(),
      // A minimum too large to be a number exactly is still larger than every payout.
      minPayout: others.min_payout === undefined ? undefined : Number(leastAmountFrom(decimalOf(others.min_payout))),
      updatedSince: others.updated_since === undefined ? undefined : parseIsoMoment(others.updated_since),
    },
    /** Lists what left the list since `updatedSince`. */
    includeRemoved: others.include_removed === '1',
  }));

/** `GET /api/v1/offers` of Variant C. */
export const offersC = pageOperation({
  path: '/c/api/v1/offers',
  operationId: 'listOffersC',
  summary: 'The offer list with filters and incremental sync',
  variant: variantC,
  limit: hourly('C offers'),
  querystring,
  body: offersBodyC,
  errorKinds: [...errorsBySecret, 'wrong_type', 'wrong_date', 'wrong_parameter'],
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
  const matching = feed.shared.narrow(offerIndex.matching(type, filters));
  const { minPayout, updatedSince } = filters;
  if (minPayout !== undefined) matching.filterAtLeast(feed.shared.prices().payouts, minPayout);
  if (updatedSince !== undefined)
    matching.filter((index) => feed.shared.changedAt(offers[index] as ServedOffer) > updatedSince);
  return matching;
}

interface RemovedOffer {
  id: number;
  removed_at: string;
  reason: GoneOffer['reason'] | 'no_match';
}

/**
 * Every offer that changed or went after the moment and is not in the answer's unpaged result, so that a publisher
 * who syncs by `updated_since` can drop it. One that is active but does not match, or that
 * the site may not have, left when it last changed.
 */
function removedText(snapshot: PublishedSnapshot, feed: SiteFeed, matching: Bitset, since: Microseconds): string {
  const unmatched = snapshot.offers
    .filter((offer) => feed.shared.changedAt(offer) > since && !matching.has(offer.index))
    .map((offer): RemovedOffer => ({
      id: offer.id,
      removed_at: feed.shared.changedAtText(offer),
      reason: 'no_match',
    }));
  const gone = snapshot.gone
    .filter((offer) => offer.changedAt > since)
    .map((offer): RemovedOffer => ({ id: offer.id, removed_at: withOffset(offer.removedAt), reason: offer.reason }));
  return JSON.stringify([...unmatched, ...gone].toSorted((one, other) => one.id - other.id));
}
