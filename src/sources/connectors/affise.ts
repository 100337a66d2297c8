import type { JsonObject } from '../../kit/text/json-text.ts';
import { compareAmounts } from '../records/amounts.ts';
import { canonicalOffer } from '../records/canonical-offer.ts';
import type { CanonicalRecord, Connector, SourceSettings } from './connector.ts';
import type { NetworkConversion } from './network-conversion.ts';
import type { StreamDeclaration } from './declaration.ts';
import { forbidsIncentives } from '../records/non-incentive.ts';
import { plainText } from '../../kit/intake/mapping/html.ts';
import type { NetworkRecord } from '../records/record-fields.ts';
import { targetCountries } from '../../kit/vocabulary/targeting.ts';

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
 * counts. Failures come with HTTP 200 and `status` 2; a limit above 500 is cut to it.
 */
export const affise: Connector = {
  name: 'affise',
  secrets: ['api_key'],
  offers: {
    isFull: true,
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
const affiseStatuses: Record<string, NetworkConversion['status']> = {
  '1': 'approved',
  confirmed: 'approved',
  '2': 'pending',
  pending: 'pending',
  '5': 'pending',
  hold: 'pending',
  '3': 'rejected',
  declined: 'rejected',
};

function affiseConversion(record: NetworkRecord): NetworkConversion | undefined {
  const [id, createdAt, updatedAt] = [record.text('id'), record.text('created_at'), record.text('updated_at')];
  const status = affiseStatuses[record.text('status')?.toLowerCase() ?? ''];
  if (id === undefined || createdAt === undefined || status === undefined) return undefined;
  return {
    id,
    clickId: record.text('sub1'),
    status,
    // In UTC, as requested, and written without an offset.
    occurredAt: `${createdAt}Z`,
    changedAt: updatedAt === undefined ? undefined : `${updatedAt}Z`,
    payout: record.text('payouts'),
    currency: record.text('currency')?.toUpperCase(),
    reason: record.text('decline_reason'),
  };
}

function affiseOffer(record: NetworkRecord, source: SourceSettings): CanonicalRecord {
  const title = record.text('title');
  const descriptions = descriptionsOf(record);
  if (
    !source.keepNonIncentive &&
    (forbidsIncentives(title, ...Object.values(descriptions).map(String)) || refusesIncentiveSource(record))
  )
    return { leftOut: 'forbids_incentives' };
  const warnings = new Set<string>();
  const goals = goalsOf(record, warnings);
  const currency = record.records('payments').flatMap((payment) => payment.text('currency') ?? [])[0];
  const allowed = [...record.texts('countries'), ...targeted(record, 'allow')];
  const target = targetCountries([...new Set(allowed)], targeted(record, 'deny'));
  for (const warning of target.warnings) warnings.add(warning);
  const caps = record.records('caps').filter((cap) => cap.text('period') === 'day');
  const capOf = (type: string) => caps.find((cap) => cap.text('type') === type)?.cap('value');
  return {
    record: canonicalOffer({
      external_id: record.text('id'),
      title,
      description: Object.keys(descriptions).length === 0 ? undefined : descriptions,
      payout: goals.size === 1 ? [...goals.values()][0] : undefined,
      currency: currency?.toUpperCase() ?? source.currency ?? 'USD',
      events:
        goals.size > 1
          ? [...goals].map(([goal, payout]) => ({ event_id: goal, description: goal, payout }))
          : undefined,
      status: 'nothing' in target ? 'paused' : 'active',
      countries: 'nothing' in target ? [] : target.values,
      devices: [...new Set(record.records('targeting').flatMap((rule) => rule.texts('os.allow')))],
      categories: record.records('full_categories').flatMap((category) => category.text('title') ?? []),
      image: record.text('logo'),
      preview_url: record.text('preview_url'),
      destination_url: record.firstText('link', 'links.0.url'),
      daily_cap: capOf('conversions'),
      daily_click_cap: capOf('clicks'),
    }),
    warnings: [...warnings],
  };
}

/** Lowest payout of each goal; goals that pay a share are left out. */
function goalsOf(record: NetworkRecord, warnings: Set<string>): Map<string, string> {
  const goals = new Map<string, string>();
  for (const payment of record.records('payments')) {
    const revenue = payment.text('revenue');
    if (revenue === undefined || payment.text('type') === 'percent') {
      warnings.add('no_fixed_payout');
      continue;
    }
    const goal = payment.firstText('goal', 'title') ?? '1';
    const known = goals.get(goal);
    if (known !== undefined && known !== revenue) warnings.add('payout_differs_by_target');
    if (known === undefined || compareAmounts(revenue, known) < 0) goals.set(goal, revenue);
  }
  return goals;
}

/** Descriptions by language, without empty ones. */
function descriptionsOf(record: NetworkRecord): JsonObject {
  return Object.fromEntries(
    record.keys('description_lang').flatMap((language) => {
      const text = plainText(record.text(`description_lang.${language}`));
      return text === undefined ? [] : [[language, text]];
    }),
  );
}

function targeted(record: NetworkRecord, list: 'allow' | 'deny'): string[] {
  return record.records('targeting').flatMap((rule) => rule.texts(`country.${list}`));
}

function refusesIncentiveSource(record: NetworkRecord): boolean {
  return record
    .records('sources')
    .some(
      (traffic) =>
        /incent/i.test(traffic.text('title') ?? '') && ['0', 'false'].includes(traffic.text('allowed') ?? ''),
    );
}
