import { jsonText } from '../../kit/text/json-text.ts';
import { isZero, roundedAmount } from '../records/amounts.ts';
import { canonicalOffer } from '../records/canonical-offer.ts';
import { currencyOf } from '../records/currency.ts';
import type { CanonicalRecord, Connector, SourceSettings } from './connector.ts';
import type { NetworkConversion, NoConversion } from './network-conversion.ts';
import { landingEvents, lowestMilestones, type Milestone } from '../records/milestones.ts';
import { forbidsIncentives } from '../records/non-incentive.ts';
import { maxPlainCharacters, plainText } from '../../kit/intake/mapping/html.ts';
import type { NetworkRecord } from '../records/record-fields.ts';
import { wholeDeviceTypes } from '../records/device-types.ts';
import { trackingType } from '../records/tracking-type.ts';
import { targetCountries, targetDevicesByAll, type TargetRule } from '../../kit/vocabulary/targeting.ts';

/**
 * Everflow, affiliate API v1. All affiliates of a network share five requests a second; we use two. Times are seconds
 * since the epoch. Rules of targeting: developers.everflow.io/user-guide/rulesets.
 *
 * No file of data: lists come bare or under `entries`, and the meaning of one rule depends on others. A denied type of
 * device takes systems away only together with its other half (`deviceTypes`), and of several default payouts none
 * counts.
 */
export const everflow: Connector = {
  name: 'everflow',
  note: 'Everflow, affiliate API v1: offers that the affiliate may run and conversions, page by page.',
  baseUrl: 'https://api.eflow.team',
  secrets: ['api_key'],
  secretHints: { api_key: "API key of the affiliate, on the panel's API page" },
  offers: {
    isFull: true,
    clickId: { parameter: 'sub1' },
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

const everflowStatuses = new Map<string, NetworkConversion['status']>([
  ['approved', 'approved'],
  ['pending', 'pending'],
  ['rejected', 'rejected'],
  ['invalid', 'rejected'],
]);

function everflowConversion(record: NetworkRecord): NetworkConversion | NoConversion {
  const id = record.id('conversion_id');
  const occurredAt = epochMoment(record.text('conversion_unix_timestamp'));
  const status = everflowStatuses.get(record.text('status')?.toLowerCase() ?? '');
  if (id === undefined) return 'unreadable';
  if (occurredAt === undefined) return 'bad_time';
  if (status === undefined) return 'unknown_status';
  return {
    id,
    clickId: record.id('sub1'),
    status,
    occurredAt,
    // The affiliate's earnings are the network's `revenue`.
    payout: roundedAmount(record.text('revenue')),
    currency: record.text('currency_id'),
    eventId: record.flag('is_event') ? record.text('event') : undefined,
  };
}

/** Payout types with a fixed amount for a conversion; others pay a share, or for clicks and views. */
const flatTypes = new Set(['cpa', 'cpa_cps', 'flat', 'cpl', 'cpi']);

function everflowOffer(record: NetworkRecord, source: SourceSettings): CanonicalRecord {
  const title = record.title('name');
  const description = record.flag('is_description_plain_text')
    ? record.text('html_description')?.slice(0, maxPlainCharacters)
    : plainText(record.text('html_description'));
  if (!source.keepNonIncentive && forbidsIncentives(title, description)) return { leftOut: 'forbids_incentives' };
  const warnings = new Set<string>();
  const { base, events } = payoutsOf(record, warnings);
  const payout = base?.text('payout_amount');
  const rules = (of: string) => entriesOf(record, `relationship.ruleset.${of}`);
  const countries = rules('countries');
  const target = targetCountries(wordsOf(countries, 'include'), wordsOf(countries, 'exclude'));
  const devices = targetDevicesByAll([
    { allowed: wordsOf(rules('platforms'), 'include'), denied: wordsOf(rules('platforms'), 'exclude') },
    deviceTypes(rules('device_types'), warnings),
    { allowed: systemsOfVersions(rules('platforms'), rules('os_versions'), warnings) },
  ]);
  for (const warning of [...target.warnings, ...devices.warnings]) warnings.add(warning);
  if (['regions', 'cities', 'dmas', 'postal_codes'].some((of) => rules(of).length > 0)) warnings.add('region_rules');
  if (otherRules.some((of) => rules(of).length > 0)) warnings.add('other_rules');
  const isNowhere = 'nothing' in target || 'nothing' in devices;
  const isCapped = record.flag('is_caps_enabled');
  return {
    record: canonicalOffer({
      external_id: record.id('network_offer_id'),
      title,
      description,
      // One that pays by its events alone has 0 of its own: their sum counts.
      payout: events.length > 0 && isZero(payout) ? undefined : payout,
      currency: currencyOf(record.text('currency_id'), source.currency),
      events: landingEvents(events),
      status: record.text('offer_status') === 'active' && !isNowhere ? 'active' : 'paused',
      countries: 'nothing' in target ? [] : target.values,
      devices: 'nothing' in devices ? [] : devices.values,
      categories: [record.text('relationship.category.name')].filter((name) => name !== undefined),
      tracking_type: trackingType(base?.text('payout_type')),
      image: record.text('thumbnail_url'),
      preview_url: record.text('preview_url'),
      destination_url: record.text('tracking_url'),
      daily_cap: isCapped ? record.cap('daily_conversion_cap') : undefined,
      daily_click_cap: isCapped ? record.cap('daily_click_cap') : undefined,
      created_at: epochMoment(record.text('time_created')),
      updated_at: epochMoment(record.text('time_saved')),
    }),
    warnings: [...warnings],
  };
}

/** The default payout where it is a fixed amount, and the other entries with one: events after the conversion. */
function payoutsOf(
  record: NetworkRecord,
  warnings: Set<string>,
): { base: NetworkRecord | undefined; events: Milestone[] } {
  const entries = entriesOf(record, 'relationship.payouts');
  const isFlat = (entry: NetworkRecord) => {
    const type = entry.text('payout_type')?.toLowerCase() ?? '';
    if (type === 'cpa_cps') warnings.add('share_not_counted');
    if (!flatTypes.has(type)) warnings.add('no_fixed_payout');
    return flatTypes.has(type);
  };
  const defaults = entries.filter((entry) => entry.flag('is_default'));
  if (defaults.length > 1) warnings.add('several_default_payouts');
  if (defaults.length === 0) warnings.add('no_fixed_payout');
  const base = defaults.length === 1 && isFlat(defaults[0] as NetworkRecord) ? defaults[0] : undefined;
  // Of an offer that pays a share the other entries are no payout.
  const events = (base === undefined ? [] : entries).flatMap((entry): Milestone[] => {
    const [name, payout] = [entry.text('entry_name'), entry.text('payout_amount')];
    if (entry.flag('is_default') || name === undefined || payout === undefined || !isFlat(entry)) return [];
    // The list of conversions names the event by this name.
    return [{ id: name, description: name, payout }];
  });
  return { base, events: lowestMilestones(events, warnings) };
}

/** Rules that nothing of ours can say. */
const otherRules = ['mobile_carriers', 'isps', 'connection_types', 'languages', 'browsers', 'brands', 'ips'];

function deviceTypes(rules: readonly NetworkRecord[], warnings: Set<string>): TargetRule {
  return { allowed: wordsOf(rules, 'include'), denied: wholeDeviceTypes(wordsOf(rules, 'exclude'), warnings) };
}

/**
 * Systems of rules about versions, whose labels are such as `iOS 15`; none where platforms name the systems. An
 * excluded version leaves the system's other ones.
 */
function systemsOfVersions(
  platforms: readonly NetworkRecord[],
  versions: readonly NetworkRecord[],
  warnings: Set<string>,
): string[] {
  if (versions.length > 0) warnings.add('os_versions');
  if (wordsOf(platforms, 'include').length > 0) return [];
  return wordsOf(versions, 'include').map(systemOf);
}

const systems = new Set([
  'android',
  'ios',
  'ipados',
  'windows',
  'mac os x',
  'mac os',
  'macos',
  'os x',
  'linux',
  'chrome os',
]);
/** Another kind of device than the system's word alone. */
const otherKind = /phone|mobile|\btv\b|watch|wear/i;

/** Returns the longest beginning of a label that is a system; else the label, which landing may know or refuse. */
function systemOf(label: string): string {
  const words = label.split(/\s+/);
  for (let count = words.length; count > 0; count--) {
    const system = words.slice(0, count).join(' ');
    if (systems.has(system.toLowerCase()) && !otherKind.test(words.slice(count).join(' '))) return system;
  }
  return label;
}

/** Records of a list, which may be under `entries`. */
function entriesOf(record: NetworkRecord, place: string): NetworkRecord[] {
  return record.at(`${place}.entries`) === undefined ? record.records(place) : record.records(`${place}.entries`);
}

/** A rule without words goes on as its text, which landing refuses. */
function wordsOf(rules: readonly NetworkRecord[], type: 'include' | 'exclude'): string[] {
  return rules
    .filter((rule) => (rule.text('targeting_type') ?? 'include') === type)
    .map((rule) => rule.firstText('country_code', 'label', 'platform_id') ?? jsonText(rule.value));
}

/** Converts seconds since the epoch; zero means no time. */
function epochMoment(seconds: string | undefined): string | undefined {
  if (seconds === undefined || !/^[1-9]\d{0,10}$/.test(seconds)) return undefined;
  return new Date(Number(seconds) * 1000).toISOString();
}
