import { canonicalOffer } from '../records/canonical-offer.ts';
import type { CanonicalRecord, Connector, SourceSettings } from './connector.ts';
import type { NetworkConversion, NoConversion } from './network-conversion.ts';
import { forbidsIncentives } from '../records/non-incentive.ts';
import { plainText } from '../../kit/intake/mapping/html.ts';
import type { NetworkRecord } from '../records/record-fields.ts';
import { storeDevices } from '../records/store-devices.ts';
import { trackingType } from '../records/tracking-type.ts';

/**
 * CAKE, the JSON feed for affiliates. Rows count from 1; `row_count` counts the list in some versions and the page in
 * others. Money has a currency sign only, so the source's `currency` counts; dates have no zone and are left out.
 */
export const cake: Connector = {
  name: 'cake',
  secrets: ['api_key', 'affiliate_id'],
  offers: {
    isFull: true,
    clickId: { parameter: 's1' },
    path: '/affiliates/api/Offers/Feed',
    query: { api_key: '{api_key}', affiliate_id: '{affiliate_id}', start_at_row: '{page}', row_limit: '{size}' },
    records: 'data',
    paging: { kind: 'row', first: 1, size: 500, total: 'row_count' },
    success: [{ at: 'success', is: ['true', '1'] }],
    budget: { requests: 2, seconds: 1 },
    // A campaign's link is that of its creative of type 1, a link. A campaign without one answers without creatives.
    campaigns: {
      path: '/affiliates/api/2/offers.asmx/GetCampaign',
      query: { api_key: '{api_key}', affiliate_id: '{affiliate_id}', campaign_id: '{campaign}' },
      format: { type: 'xml' },
      records: 'campaign_response.campaign.creatives.creative_info',
      budget: { requests: 2, seconds: 1 },
      campaignOf: (record) => record.text('campaign_id'),
      linkOf: (creatives) =>
        creatives.find((creative) => creative.text('creative_type.type_id') === '1')?.text('unique_link'),
    },
    toCanonical: cakeOffer,
  },
  conversions: {
    windowDays: 31,
    path: '/affiliates/api/Reports/Conversions',
    query: {
      api_key: '{api_key}',
      affiliate_id: '{affiliate_id}',
      start_date: '{from}',
      end_date: '{to}',
      start_at_row: '{page}',
      row_limit: '{size}',
    },
    records: 'data',
    paging: { kind: 'row', first: 1, size: 500, total: 'row_count' },
    success: [{ at: 'success', is: ['true', '1'] }],
    budget: { requests: 2, seconds: 1 },
    toConversion: cakeConversion,
  },
};

/** Networks may set words of their own: of others than these nobody is credited. */
const dispositions = new Map<string, NetworkConversion['status']>([
  ['', 'approved'],
  ['approved', 'approved'],
  ['pending', 'pending'],
  ['rejected', 'rejected'],
  ['returned', 'rejected'],
  ['void', 'rejected'],
  ['voided', 'rejected'],
]);

function cakeConversion(record: NetworkRecord): NetworkConversion | NoConversion {
  const [id, occurredAt] = [record.text('conversion_id'), isoTime(record.text('conversion_date'))];
  if (id === undefined) return 'unreadable';
  if (occurredAt === undefined) return 'bad_time';
  const [disposition] = record.words('disposition');
  const status = dispositions.get(disposition?.toLowerCase() ?? '');
  if (status === undefined) return 'unknown_status';
  return {
    id,
    clickId: record.text('subid_1'),
    status,
    occurredAt,
    payout: record.text('price'),
    currency: undefined,
  };
}

/** Converts `MM/DD/YYYY hh:mm:ss` to ISO 8601. */
function isoTime(text: string | undefined): string | undefined {
  const american = /^(\d\d)\/(\d\d)\/(\d{4}) (\d\d:\d\d:\d\d)$/.exec(text ?? '');
  return american === null ? text : `${american[3]}-${american[1]}-${american[2]}T${american[4]}`;
}

const flatFormats = new Set(['cpa', 'cpi', 'cpl', 'fixed']);

function cakeOffer(record: NetworkRecord, source: SourceSettings): CanonicalRecord {
  const title = record.title('offer_name');
  const description = plainText(record.text('description'));
  if (!source.keepNonIncentive && forbidsIncentives(title, description, record.text('restrictions')))
    return { leftOut: 'forbids_incentives' };
  const isFlat = flatFormats.has(record.text('price_format')?.toLowerCase() ?? '');
  // An object in all versions that were seen, by either name of its members; a text is understood too.
  const status = record.firstText('offer_status.offer_status_name', 'offer_status.status_name', 'offer_status');
  const preview = record.text('preview_link');
  const [offerId, contractId] = [record.text('offer_id'), record.text('offer_contract_id')];
  return {
    record: canonicalOffer({
      external_id: offerId === undefined || contractId === undefined ? offerId : `${offerId}-${contractId}`,
      title,
      description,
      payout: isFlat ? record.text('price') : undefined,
      currency: source.currency ?? 'USD',
      status: status?.toLowerCase() === 'active' ? 'active' : 'paused',
      countries: countries(record),
      devices: storeDevices(preview),
      categories: [record.text('vertical_name')].filter((name) => name !== undefined),
      image: record.text('thumbnail_image_url'),
      tracking_type: trackingType(record.text('price_format')),
      preview_url: preview,
    }),
    warnings: isFlat ? [] : ['no_fixed_payout'],
  };
}

/** Objects with a code, or codes alone. A country without either goes on, so that landing refuses it. */
function countries(record: NetworkRecord): string[] {
  return record
    .records('allowed_countries')
    .map((country) => country.firstText('country_code', 'country_name', '') ?? 'a country without a name');
}
