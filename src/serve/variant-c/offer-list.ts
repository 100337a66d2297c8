import { isoMomentPattern, parseIsoMoment, withOffset } from '../../kit/time/iso-moment.ts';
import type { Microseconds } from '../../kit/time/iso-moment.ts';
import { pageEndpoint } from '../endpoints/endpoint.ts';
import type { Bitset } from '../offers/bitset.ts';
import type { OfferType, Query } from '../../kit/http/query.ts';
import type { PublishedSnapshot } from '../snapshot/published-snapshot.ts';
import type { ServedOffer } from '../offers/served-offer.ts';
import { hourly } from '../access/limits.ts';
import type { SiteFeed } from '../offers/site-feed.ts';
import { linkEndC, templateC } from './offer-template.ts';
import { variantC } from './variant.ts';
import { decimalOf } from '../../kit/text/decimal-text.ts';
import { leastAmountFrom } from '../offers/money.ts';
import { choice, integer, offerType, parameter, pattern, text, withDefault } from '../../kit/http/query.ts';

export const parametersC = {
  type: withDefault(offerType, 'offer'),
  limit: withDefault(integer('limit', 'Most offers to return; wins over take', 1, 500), 100),
  take: withDefault(integer('take', 'Alias of limit', 1, 500), 100),
  offset: withDefault(integer('offset', 'Leading offers to leave out; wins over skip', 0), 0),
  skip: withDefault(integer('skip', 'Alias of offset', 0), 0),
  country: pattern(
    'country',
    'ISO 3166-1 alpha-2 in any case: offers available there',
    '^[A-Za-z]{2}$',
    'country must be a code of two letters such as US',
  ),
  device: choice('device', 'Offers for this device', ['android', 'ios', 'desktop']),
  category: text('category', 'Category name in any case'),
  minPayout: pattern(
    'min_payout',
    'Least payout in USD, after commission',
    '^[0-9]+(\\.[0-9]+)?$',
    'min_payout must be plain digits with an optional fraction, such as 0.5',
  ),
  updatedSince: parameter(
    'updated_since',
    'ISO 8601 date or date-time, UTC without an offset: offers updated after it',
    {
      schema: { type: 'string', pattern: isoMomentPattern },
      valueOf: parseIsoMoment,
      mistake: 'updated_since must be an ISO 8601 date or date-time such as 2026-11-20T08:00:00Z',
      errorKind: 'wrong_date',
    },
  ),
  includeRemoved: withDefault(
    choice('include_removed', '1 with updated_since: also tell what left the list since then', ['0', '1']),
    '0',
  ),
};

export interface ParametersC {
  type: OfferType;
  limit: number;
  offset: number;
  filters: FiltersC;
  /** Says what left the list since `updatedSince`. */
  includeRemoved: boolean;
}

export interface FiltersC {
  /** ISO 3166-1 alpha-2, upper case. */
  country: string | undefined;
  device: string | undefined;
  /** In lower case. */
  category: string | undefined;
  /** Ten-thousandths of a USD, as published. */
  minPayout: bigint | undefined;
  /** Only what changed strictly after this moment. */
  updatedSince: Microseconds | undefined;
}

function readParametersC(query: Query): ParametersC {
  const { limit, offset, country, device, category, minPayout, updatedSince, includeRemoved } = parametersC;
  const type = parametersC.type.read(query) ?? parametersC.type.otherwise;
  // An alias is checked even where the name that it stands for wins.
  const take = parametersC.take.read(query);
  const skip = parametersC.skip.read(query);
  return {
    type,
    limit: limit.read(query) ?? take ?? limit.otherwise,
    offset: offset.read(query) ?? skip ?? offset.otherwise,
    filters: {
      country: country.read(query)?.toUpperCase(),
      device: device.read(query),
      category: category.read(query)?.toLowerCase(),
      minPayout: leastPayout(minPayout.read(query)),
      updatedSince: updatedSince.read(query),
    },
    includeRemoved: includeRemoved.read(query) === '1',
  };
}

/** The category stands last: it is the only text that a publisher chooses freely. */
function keyOfParametersC({ type, limit, offset, filters, includeRemoved }: ParametersC): string {
  const { country = '', device = '', minPayout = '', updatedSince = '', category = '' } = filters;
  return `${type} ${limit} ${offset} ${includeRemoved ? 'removed' : ''} ${country} ${device} ${minPayout} ${updatedSince} ${category}`;
}

function leastPayout(digits: string | undefined): bigint | undefined {
  return digits === undefined ? undefined : leastAmountFrom(decimalOf(digits));
}

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
