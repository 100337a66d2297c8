import { canonicalOffer } from '../records/canonical-offer.ts';
import type { CanonicalRecord, Connector, SourceSettings } from './connector.ts';
import type { NetworkConversion, NoConversion } from './network-conversion.ts';
import { landingEvents, lowestMilestones, type Milestone } from '../records/milestones.ts';
import { forbidsIncentives } from '../records/non-incentive.ts';
import { plainText } from '../../kit/intake/mapping/html.ts';
import type { NetworkRecord } from '../records/record-fields.ts';
import { storeDevices } from '../records/store-devices.ts';

/**
 * TUNE (HasOffers), affiliate API v3. Numbers and truth values come as texts, maps in place of lists, and failures with
 * HTTP 200. A network allows all its affiliates together 50 requests in 10 seconds; we use a quarter.
 */
export const tune: Connector = {
  name: 'tune',
  secrets: ['api_key'],
  offers: {
    isFull: true,
    clickId: { parameter: 'aff_sub' },
    path: '/Apiv3/json',
    query: {
      api_key: '{api_key}',
      Target: 'Affiliate_Offer',
      Method: 'findMyApprovedOffers',
      'contain[]': ['Country', 'Thumbnail', 'OfferCategory', 'TrackingLink', 'Goal', 'OfferOperatingSystem'],
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
        'Stat.tune_event_id',
        'Stat.datetime',
        'Stat.payout',
        'Stat.currency',
        'Stat.conversion_status',
        'Stat.affiliate_info1',
        'Goal.name',
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

const tuneStatuses = new Map<string, NetworkConversion['status']>([
  ['approved', 'approved'],
  ['pending', 'pending'],
  ['rejected', 'rejected'],
]);

/** TUNE replaces `Stat.id` by `Stat.tune_event_id` (developers.tune.com/network-models/conversionreport). */
function tuneConversion(record: NetworkRecord): NetworkConversion | NoConversion {
  const id = record.firstText('Stat.id', 'Stat.tune_event_id');
  const occurredAt = record.text('Stat.datetime');
  const status = tuneStatuses.get(record.text('Stat.conversion_status')?.toLowerCase() ?? '');
  if (id === undefined) return 'unreadable';
  if (occurredAt === undefined) return 'bad_time';
  if (status === undefined) return 'unknown_status';
  return {
    id,
    laterId: record.text('Stat.tune_event_id'),
    clickId: record.text('Stat.affiliate_info1'),
    status,
    occurredAt,
    payout: record.text('Stat.payout'),
    currency: record.text('Stat.currency'),
    eventId: record.text('Goal.name'),
  };
}

function tuneOffer(record: NetworkRecord, source: SourceSettings): CanonicalRecord {
  const title = record.title('Offer.name');
  const description = plainText(record.text('Offer.description'));
  if (!source.keepNonIncentive && forbidsIncentives(title, description)) return { leftOut: 'forbids_incentives' };
  const warnings = new Set<string>();
  const isFlat = paysFlat(record.text('Offer.payout_type'), warnings);
  const base = isFlat ? record.text('Offer.default_payout') : undefined;
  const goals = isFlat && record.text('Offer.has_goals_enabled') !== '0' ? goalsOf(record, warnings) : [];
  const preview = record.text('Offer.preview_url');
  const systems = record.words('OfferOperatingSystem', 'name');
  return {
    record: canonicalOffer({
      external_id: record.text('Offer.id'),
      title,
      description,
      // An offer that pays by its goals alone has 0 of its own.
      payout: goals.length > 0 && isZero(base) ? undefined : base,
      currency: record.text('Offer.currency') ?? source.currency ?? 'USD',
      events: landingEvents(goals),
      status: record.text('Offer.status') === 'active' && !record.flag('Offer.is_expired') ? 'active' : 'paused',
      countries: countries(record),
      devices: systems.length > 0 ? systems : storeDevices(preview),
      categories: record.records('OfferCategory').flatMap((category) => category.text('name') ?? []),
      image: record.firstText('Thumbnail.url', 'Thumbnail.thumbnail'),
      preview_url: preview,
      destination_url: record.text('TrackingLink.click_url'),
      daily_cap: record.cap('Offer.conversion_cap'),
    }),
    warnings: [...warnings],
  };
}

/** A percentage, or a payout for a click or a thousand views, is no amount for a conversion. */
function paysFlat(type = 'cpa_flat', warnings: Set<string>): boolean {
  if (type === 'cpa_both') warnings.add('share_not_counted');
  const isFlat = type === 'cpa_flat' || type === 'cpa_both';
  if (!isFlat) warnings.add('no_fixed_payout');
  return isFlat;
}

/** Goals with a fixed amount, by name, as the list of conversions names them; the deleted ones are left out. */
function goalsOf(record: NetworkRecord, warnings: Set<string>): Milestone[] {
  const goals = record.records('Goal').flatMap((goal): Milestone[] => {
    if ((goal.text('status') ?? 'active') !== 'active' || !paysFlat(goal.text('payout_type'), warnings)) return [];
    const [name, payout] = [goal.firstText('name', 'id'), goal.text('default_payout')];
    if (name === undefined || payout === undefined) return [];
    return [{ id: name, description: goal.title('name') ?? name, payout }];
  });
  return lowestMilestones(goals, warnings);
}

function isZero(amount: string | undefined): boolean {
  return amount === undefined || /^0*\.?0*$/.test(amount);
}

/** A map by code, `[]` where the offer runs everywhere. */
function countries(record: NetworkRecord): string[] {
  const keys = record.keys('Country');
  return keys.length > 0 ? keys : record.words('Country', 'code');
}
