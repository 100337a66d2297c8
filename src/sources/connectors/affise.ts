import type { JsonObject } from '../../kit/text/json-text.ts';
import { roundedAmount } from '../records/amounts.ts';
import { canonicalOffer } from '../records/canonical-offer.ts';
import { currencyOf } from '../records/currency.ts';
import type { CanonicalRecord, Connector, SourceSettings } from './connector.ts';
import type { NetworkConversion, NoConversion } from './network-conversion.ts';
import type { StreamDeclaration } from './declaration.ts';
import { landingEvents, lowestMilestones, type Milestone } from '../records/milestones.ts';
import { forbidsIncentives } from '../records/non-incentive.ts';
import { plainText } from '../../kit/intake/mapping/html.ts';
import type { NetworkRecord } from '../records/record-fields.ts';
import { wholeDeviceTypes } from '../records/device-types.ts';
import { trackingType } from '../records/tracking-type.ts';
import { targetCountries, targetDevicesByAll, type TargetRule } from '../../kit/vocabulary/targeting.ts';

/** Settings of both lists. */
const everyList = {
  headers: { 'API-Key': '{api_key}' },
  paging: { kind: 'page', size: 500, total: 'pagination.total_count', next: 'pagination.next_page' },
  success: [{ at: 'status', is: ['1'] }],
  errors: [{ at: 'message', contains: 'too many', do: 'wait', seconds: 10 }],
  budget: { requests: 2, seconds: 1 },
} satisfies StreamDeclaration;

/**
 * Affise, partner API 3.0. A goal may pay differently by country and system, which has no single payout: the lowest
 * counts. Failures come with HTTP 200 and `status` 2; a limit above 500 is cut to it. Shapes: tests/AffiliateMethods in
 * github.com/affise/php-sdk, the vendor's client.
 *
 * No file of data: an offer's currency is the first in which every goal is paid (`goalsOf`), so that it and the amounts
 * depend on all payments at once, and targeting comes in groups, of which the words of all count.
 */
export const affise: Connector = {
  name: 'affise',
  note: 'Affise, partner API 3.0: offers and conversions, page by page.',
  secrets: ['api_key'],
  secretHints: { api_key: "API key of the partner, in the panel's settings" },
  offers: {
    isFull: true,
    clickId: { parameter: 'sub1' },
    path: '/3.0/partner/offers',
    query: { page: '{page}', limit: '{size}' },
    ...everyList,
    records: 'offers',
    toCanonical: affiseOffer,
  },
  conversions: {
    windowDays: 31,
    path: '/3.0/stats/conversions',
    query: { date_from: '{from}', date_to: '{to}', timezone: 'UTC', page: '{page}', limit: '{size}' },
    ...everyList,
    records: 'conversions',
    toConversion: affiseConversion,
  },
};

/** Statuses by number, as in requests, and by text, as in answers. */
const affiseStatuses = new Map<string, NetworkConversion['status']>([
  ['1', 'approved'],
  ['confirmed', 'approved'],
  ['2', 'pending'],
  ['pending', 'pending'],
  ['5', 'pending'],
  ['hold', 'pending'],
  ['3', 'rejected'],
  ['declined', 'rejected'],
]);

function affiseConversion(record: NetworkRecord): NetworkConversion | NoConversion {
  const [id, createdAt] = [record.id('id'), record.text('created_at')];
  const updatedAt = record.firstText('updated_at', 'updatedAt');
  const status = affiseStatuses.get(record.text('status')?.toLowerCase() ?? '');
  if (id === undefined) return 'unreadable';
  if (createdAt === undefined) return 'bad_time';
  if (status === undefined) return 'unknown_status';
  const payout = roundedAmount(record.text('payouts'));
  return {
    id,
    clickId: record.id('sub1'),
    status,
    // In UTC, as requested, and written without an offset.
    occurredAt: `${createdAt}Z`,
    changedAt: updatedAt === undefined ? undefined : `${updatedAt}Z`,
    payout,
    currency: record.text('currency')?.toUpperCase(),
    // The only goal of an offer is no milestone, by which nothing could be priced.
    eventId: payout === undefined ? undefined : record.id('goal_value'),
    reason: record.firstText('decline_reason', 'comment'),
  };
}

function affiseOffer(record: NetworkRecord, source: SourceSettings): CanonicalRecord {
  const title = record.title('title');
  const descriptions = descriptionsOf(record);
  if (
    !source.keepNonIncentive &&
    (forbidsIncentives(title, ...Object.values(descriptions).map(String)) || refusesIncentiveSource(record))
  )
    return { leftOut: 'forbids_incentives' };
  const warnings = new Set<string>();
  const { currency, goals } = goalsOf(record, source.currency, warnings);
  const allowed = [...record.words('countries'), ...targeted(record, 'country.allow')];
  const target = targetCountries([...new Set(allowed)], targeted(record, 'country.deny'));
  const devices = targetDevicesByAll([systemRule(record, warnings), deviceTypeRule(record, warnings)]);
  for (const warning of [...target.warnings, ...devices.warnings]) warnings.add(warning);
  if (['region', 'city'].some((of) => [`${of}.allow`, `${of}.deny`].some((at) => targeted(record, at).length > 0)))
    warnings.add('region_rules');
  if (
    ['isp', 'browser', 'brand'].some((of) =>
      [`${of}.allow`, `${of}.deny`].some((at) => targeted(record, at).length > 0),
    )
  )
    warnings.add('other_rules');
  if (targeted(record, 'connection').length > 0) warnings.add('other_rules');
  const caps = record.records('caps').filter(isDailyCap);
  const capOf = (type: string) => caps.find((cap) => cap.text('type') === type)?.cap('value');
  return {
    record: canonicalOffer({
      external_id: record.id('id'),
      title,
      description: Object.keys(descriptions).length === 0 ? undefined : descriptions,
      payout: goals.length === 1 ? goals[0]?.payout : undefined,
      currency,
      events: goals.length > 1 ? landingEvents(goals) : undefined,
      status: 'nothing' in target || 'nothing' in devices ? 'paused' : 'active',
      countries: 'nothing' in target ? [] : target.values,
      devices: 'nothing' in devices ? [] : devices.values,
      categories: record.records('full_categories').flatMap((category) => category.text('title') ?? []),
      tracking_type: record.flag('is_cpi') ? trackingType('CPI') : undefined,
      image: record.text('logo'),
      preview_url: record.text('preview_url'),
      destination_url: record.firstText('link', 'links.0.url'),
      daily_cap: capOf('conversions'),
      daily_click_cap: capOf('clicks'),
    }),
    warnings: [...warnings],
  };
}

/**
 * Goals in one currency, each at its lowest payout; those that pay a share are left out. Amounts in several currencies
 * are never added or compared: the first currency that pays every goal counts. Where none does there are no goals, and
 * landing refuses the offer.
 */
function goalsOf(
  record: NetworkRecord,
  configured: string | undefined,
  warnings: Set<string>,
): { currency: string; goals: Milestone[] } {
  const byCurrency = new Map<string, Milestone[]>();
  const all = new Set<string>();
  for (const payment of record.records('payments')) {
    const revenue = payment.text('revenue');
    if (revenue === undefined || (payment.text('type') ?? 'fixed') !== 'fixed') {
      warnings.add('no_fixed_payout');
      continue;
    }
    const id = payment.id('goal') ?? payment.text('title') ?? '1';
    const currency = currencyOf(payment.text('currency')?.toUpperCase(), configured);
    const description = payment.title('title') ?? record.title(`goals.${id}`) ?? id;
    all.add(id);
    byCurrency.set(currency, [...(byCurrency.get(currency) ?? []), { id, description, payout: revenue }]);
  }
  if (byCurrency.size > 1) warnings.add('several_currencies');
  for (const [currency, milestones] of byCurrency) {
    const goals = lowestMilestones(milestones, warnings);
    if (goals.length === all.size) return { currency, goals };
  }
  return { currency: currencyOf(undefined, configured), goals: [] };
}

/** Descriptions by language, without empty ones; some answers have a single one. */
function descriptionsOf(record: NetworkRecord): JsonObject {
  const byLanguage = record.keys('description_lang').flatMap((language) => {
    const text = plainText(record.text(`description_lang.${language}`));
    return text === undefined ? [] : [[language, text] as const];
  });
  const only = byLanguage.length === 0 ? plainText(record.text('description')) : undefined;
  return only === undefined ? Object.fromEntries(byLanguage) : { en: only };
}

/** Words of all targeting groups; lists are empty as `[]` or `{}`. */
function targeted(record: NetworkRecord, list: string): string[] {
  return record.records('targeting').flatMap((rule) => rule.words(list));
}

/**
 * Systems of all targeting groups, `{name, comparison, version}` each; with `os_deny` a group denies those it lists. A
 * denied version leaves the system's other ones.
 */
function systemRule(record: NetworkRecord, warnings: Set<string>): TargetRule {
  const [allowed, denied]: [string[], string[]] = [[], []];
  for (const group of record.records('targeting'))
    for (const list of ['allow', 'deny']) {
      const isDenied = list === 'deny' || group.flag('os_deny');
      for (const system of group.members(`os.${list}`)) {
        const isVersion = system.text('version') !== undefined;
        if (isVersion) warnings.add('os_versions');
        if (!isDenied) allowed.push(system.word('name'));
        else if (!isVersion) denied.push(system.word('name'));
      }
    }
  return { allowed, denied };
}

/** Types of devices of all targeting groups; with `device_type_deny` a group denies those it lists. */
function deviceTypeRule(record: NetworkRecord, warnings: Set<string>): TargetRule {
  const wordsIf = (denies: boolean) =>
    record
      .records('targeting')
      .filter((group) => group.flag('device_type_deny') === denies)
      .flatMap((group) => group.words('device_type'));
  return { allowed: wordsIf(false), denied: wholeDeviceTypes(wordsIf(true), warnings) };
}

/** True for a cap of the offer's days; one of some goals or countries, or of each, is none of the whole offer. */
function isDailyCap(cap: NetworkRecord): boolean {
  return cap.text('period') === 'day' && ['goal_type', 'country_type'].every((of) => (cap.text(of) ?? 'all') === 'all');
}

function refusesIncentiveSource(record: NetworkRecord): boolean {
  return record
    .records('sources')
    .some(
      (traffic) =>
        /incent|мотивирован/i.test(traffic.text('title') ?? '') &&
        ['0', 'false'].includes(traffic.text('allowed') ?? ''),
    );
}
