import { canonicalOffer } from '../records/canonical-offer.ts';
import type { CanonicalRecord, Connector, SourceSettings } from './connector.ts';
import type { NetworkConversion } from './network-conversion.ts';
import { forbidsIncentives } from '../records/non-incentive.ts';
import { plainText } from '../../kit/intake/mapping/html.ts';
import type { NetworkRecord } from '../records/record-fields.ts';

/**
 * TUNE (HasOffers), affiliate API v3. Numbers and truth values come as texts, maps in place of lists, and failures with
 * HTTP 200. A network allows all its affiliates together 50 requests in 10 seconds; we use a quarter.
 */
export const tune: Connector = {
  name: 'tune',
  secrets: ['api_key'],
  offers: {
    isFull: true,
    path: '/Apiv3/json',
    query: {
      api_key: '{api_key}',
      Target: 'Affiliate_Offer',
      Method: 'findMyApprovedOffers',
      'contain[]': ['Country', 'Thumbnail', 'OfferCategory', 'TrackingLink', 'Goal'],
      'filters[status]': 'active',
      'sort[id]': 'asc',
      limit: '{size}',
      page: '{page}',
    },
    records: 'response.data.data',
    paging: { kind: 'page', size: 500, total: 'response.data.count', pages: 'response.data.pageCount' },
    success: [{ at: 'response.status', is: ['1'] }],
    errors: [{ at: 'response.errorMessage', contains: 'rate limit', do: 'wait', seconds: 10 }],
    budget: { requests: 12, seconds: 10 },
    toCanonical: tuneOffer,
  },
  conversions: {
    windowDays: 31,
    path: '/Apiv3/json',
    query: {
      api_key: '{api_key}',
      Target: 'Affiliate_Report',
      Method: 'getConversions',
      'fields[]': [
        'Stat.id',
        'Stat.datetime',
        'Stat.payout',
        'Stat.currency',
        'Stat.conversion_status',
        'Stat.affiliate_info1',
      ],
      'sort[Stat.id]': 'asc',
      data_start: '{from}',
      data_end: '{to}',
      limit: '{size}',
      page: '{page}',
    },
    records: 'response.data.data',
    paging: { kind: 'page', size: 1000, total: 'response.data.count', pages: 'response.data.pageCount' },
    success: [{ at: 'response.status', is: ['1'] }],
    errors: [{ at: 'response.errorMessage', contains: 'rate limit', do: 'wait', seconds: 10 }],
    budget: { requests: 12, seconds: 10 },
    toConversion: tuneConversion,
  },
};

function tuneConversion(record: NetworkRecord): NetworkConversion | undefined {
  const [id, occurredAt] = [record.text('Stat.id'), record.text('Stat.datetime')];
  const status = record.text('Stat.conversion_status');
  if (id === undefined || occurredAt === undefined) return undefined;
  if (status !== 'approved' && status !== 'pending' && status !== 'rejected') return undefined;
  return {
    id,
    clickId: record.text('Stat.affiliate_info1'),
    status,
    occurredAt,
    payout: record.text('Stat.payout'),
    currency: record.text('Stat.currency'),
  };
}

function tuneOffer(record: NetworkRecord, source: SourceSettings): CanonicalRecord {
  const title = record.text('Offer.name');
  const description = plainText(record.text('Offer.description'));
  if (!source.keepNonIncentive && forbidsIncentives(title, description)) return { leftOut: 'forbids_incentives' };
  const type = record.text('Offer.payout_type') ?? 'cpa_flat';
  // A percentage, or a payout for a click or a thousand views, is no amount for a conversion.
  const isFlat = type === 'cpa_flat' || type === 'cpa_both';
  return {
    record: canonicalOffer({
      external_id: record.text('Offer.id'),
      title,
      description,
      payout: isFlat ? record.text('Offer.default_payout') : undefined,
      currency: record.text('Offer.currency') ?? source.currency ?? 'USD',
      status: record.text('Offer.status') === 'active' && !record.flag('Offer.is_expired') ? 'active' : 'paused',
      countries: countries(record),
      categories: record.records('OfferCategory').flatMap((category) => category.text('name') ?? []),
      image: record.firstText('Thumbnail.url', 'Thumbnail.thumbnail'),
      preview_url: record.text('Offer.preview_url'),
      destination_url: record.text('TrackingLink.click_url'),
      daily_cap: record.cap('Offer.conversion_cap'),
    }),
    warnings: isFlat ? [] : ['no_fixed_payout'],
  };
}

/** A map by code, `[]` where the offer runs everywhere. */
function countries(record: NetworkRecord): string[] {
  const keys = record.keys('Country');
  return keys.length > 0 ? keys : record.records('Country').flatMap((country) => country.text('code') ?? []);
}
