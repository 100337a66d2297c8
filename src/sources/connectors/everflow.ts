import { canonicalOffer } from '../records/canonical-offer.ts';
import type { CanonicalRecord, Connector, SourceSettings } from './connector.ts';
import type { NetworkConversion } from './network-conversion.ts';
import { forbidsIncentives } from '../records/non-incentive.ts';
import { plainText } from '../../kit/intake/mapping/html.ts';
import type { NetworkRecord } from '../records/record-fields.ts';
import { targetCountries } from '../../kit/vocabulary/targeting.ts';

/**
 * Everflow, affiliate API v1. All affiliates of a network share five requests a second; we use two. Times are seconds
 * since the epoch. Landing warns of rules for platforms that it does not know.
 */
export const everflow: Connector = {
  name: 'everflow',
  baseUrl: 'https://api.eflow.team',
  secrets: ['api_key'],
  offers: {
    isFull: true,
    path: '/v1/affiliates/offersrunnable',
    query: { page: '{page}', page_size: '{size}' },
    headers: { 'X-Eflow-API-Key': '{api_key}' },
    records: 'offers',
    paging: { kind: 'page', size: 2000, total: 'paging.total_count' },
    budget: { requests: 2, seconds: 1 },
    toCanonical: everflowOffer,
  },
  conversions: {
    windowDays: 31,
    method: 'POST',
    path: '/v1/affiliates/reporting/conversions',
    // The page is in the query, everything else in the body; zone 67 is UTC.
    query: { page: '{page}', page_size: '{size}' },
    headers: { 'X-Eflow-API-Key': '{api_key}' },
    body: {
      from: '{from}',
      to: '{to}',
      timezone_id: 67,
      show_conversions: true,
      show_events: true,
      query: { filters: [] },
    },
    records: 'conversions',
    paging: { kind: 'page', size: 2000, total: 'paging.total_count' },
    budget: { requests: 2, seconds: 1 },
    toConversion: everflowConversion,
  },
};

const everflowStatuses: Record<string, NetworkConversion['status']> = {
  approved: 'approved',
  pending: 'pending',
  rejected: 'rejected',
  invalid: 'rejected',
};

function everflowConversion(record: NetworkRecord): NetworkConversion | undefined {
  const id = record.text('conversion_id');
  const occurredAt = epochMoment(record.text('conversion_unix_timestamp'));
  const status = everflowStatuses[record.text('status')?.toLowerCase() ?? ''];
  if (id === undefined || occurredAt === undefined || status === undefined) return undefined;
  return {
    id,
    clickId: record.text('sub1'),
    status,
    occurredAt,
    // The affiliate's earnings are the network's `revenue`.
    payout: record.text('revenue'),
    currency: record.text('currency_id'),
  };
}

/** Payout types with a fixed amount for a conversion; others pay a share, or for clicks and views. */
const flatTypes = new Set(['cpa', 'cpa_cps', 'flat', 'cpl', 'cpi']);

function everflowOffer(record: NetworkRecord, source: SourceSettings): CanonicalRecord {
  const title = record.text('name');
  const description = record.flag('is_description_plain_text')
    ? record.text('html_description')
    : plainText(record.text('html_description'));
  if (!source.keepNonIncentive && forbidsIncentives(title, description)) return { leftOut: 'forbids_incentives' };
  const warnings: string[] = [];
  const entries = entriesOf(record, 'relationship.payouts');
  const defaults = entries.filter((entry) => entry.flag('is_default'));
  const base = defaults.length === 1 ? defaults[0] : undefined;
  const isFlat = flatTypes.has(base?.text('payout_type')?.toLowerCase() ?? '');
  if (!isFlat) warnings.push(defaults.length > 1 ? 'several_default_payouts' : 'no_fixed_payout');
  const rules = entriesOf(record, 'relationship.ruleset.countries');
  const target = targetCountries(countryWords(rules, 'include'), countryWords(rules, 'exclude'));
  warnings.push(...target.warnings);
  const isCapped = record.flag('is_caps_enabled');
  const platforms = entriesOf(record, 'relationship.ruleset.platforms')
    .filter((rule) => rule.text('targeting_type') !== 'exclude')
    .flatMap((rule) => rule.firstText('label', 'platform_id') ?? []);
  return {
    record: canonicalOffer({
      external_id: record.text('network_offer_id'),
      title,
      description,
      payout: isFlat ? base?.text('payout_amount') : undefined,
      currency: record.text('currency_id') ?? source.currency ?? 'USD',
      status: record.text('offer_status') === 'active' && !('nothing' in target) ? 'active' : 'paused',
      countries: 'nothing' in target ? [] : target.values,
      devices: platforms,
      categories: [record.text('relationship.category.name')].filter((name) => name !== undefined),
      image: record.text('thumbnail_url'),
      preview_url: record.text('preview_url'),
      destination_url: record.text('tracking_url'),
      daily_cap: isCapped ? record.cap('daily_conversion_cap') : undefined,
      daily_click_cap: isCapped ? record.cap('daily_click_cap') : undefined,
      created_at: epochMoment(record.text('time_created')),
      updated_at: epochMoment(record.text('time_saved')),
    }),
    warnings,
  };
}

/** Records of a list, which may be under `entries`. */
function entriesOf(record: NetworkRecord, place: string): NetworkRecord[] {
  return record.at(`${place}.entries`) === undefined ? record.records(place) : record.records(`${place}.entries`);
}

function countryWords(rules: readonly NetworkRecord[], type: 'include' | 'exclude'): string[] {
  return rules
    .filter((rule) => (rule.text('targeting_type') ?? 'include') === type)
    .flatMap((rule) => rule.firstText('country_code', 'label') ?? []);
}

/** Converts seconds since the epoch; zero means no time. */
function epochMoment(seconds: string | undefined): string | undefined {
  if (seconds === undefined || !/^[1-9]\d{0,10}$/.test(seconds)) return undefined;
  return new Date(Number(seconds) * 1000).toISOString();
}
