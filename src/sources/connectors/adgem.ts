import { canonicalOffer } from '../records/canonical-offer.ts';
import type { CanonicalRecord, Connector, SourceSettings } from './connector.ts';
import { plainText } from '../../kit/intake/mapping/html.ts';
import type { NetworkRecord } from '../records/record-fields.ts';
import { trackingType } from '../records/tracking-type.ts';
import { targetCountries, targetDevicesByAll } from '../../kit/vocabulary/targeting.ts';

/**
 * AdGem's offer API: a token for an hour, at most 60 requests a minute, pages of a hundred without a total. Shapes:
 * docs/reference/offer-api in github.com/AdGem/adgem-integrations-documentation.
 */
export const adgem: Connector = {
  name: 'adgem',
  baseUrl: 'https://offer-api.adgem.com',
  secrets: ['refresh_token'],
  offers: {
    isFull: true,
    clickId: { macro: '{playerid}' },
    path: '/v1/offers',
    query: { per_page: '{size}', page: '{page}' },
    headers: { Authorization: 'Bearer {token}' },
    token: {
      path: '/v1/users/token',
      form: { grant_type: 'refresh_token', refresh_token: '{refresh_token}' },
      at: 'access_token',
    },
    records: 'data.offers',
    success: [{ at: 'status', is: ['success'] }],
    paging: { kind: 'page', size: 100, more: 'data.pagination.has_more_pages' },
    budget: { requests: 30, seconds: 60 },
    toCanonical: adgemOffer,
  },
};

/** AdGem's older API: all campaigns on one page, keyed by id, with `[]` for empty maps. */
export const adgemLegacy: Connector = {
  name: 'adgem_legacy',
  baseUrl: 'https://api.adgem.com',
  secrets: ['app_id', 'token'],
  offers: {
    isFull: true,
    clickId: { macro: '{playerid}' },
    path: '/v1/all/campaigns',
    query: { appid: '{app_id}', token: '{token}' },
    records: 'data',
    success: [{ at: 'status', is: ['success'] }],
    budget: { requests: 30, seconds: 60 },
    toCanonical: legacyOffer,
  },
};

/** A click pays nothing here: offers are credited by conversions. */
const paidByClick = 'CPC';

function adgemOffer(record: NetworkRecord, source: SourceSettings): CanonicalRecord {
  const warnings = new Set<string>();
  const type = record.text('tracking_type');
  const isFlat = type?.toUpperCase() !== paidByClick;
  if (!isFlat) warnings.add('no_fixed_payout');
  const regions = [...record.records('geo_targeting.states'), ...record.records('geo_targeting.cities')];
  if (regions.length > 0) warnings.add('region_rules');
  const countries = record
    .records('geo_targeting.countries')
    .map((country) => country.firstText('iso_alpha2', 'name') ?? unknownWord);
  // Regions alone would leave the whole world.
  const words = countries.length === 0 && regions.length > 0 ? [unknownWord] : countries;
  const target = targetDevicesByAll([
    { allowed: record.words('os_targeting', 'name') },
    { allowed: record.words('device_targeting') },
  ]);
  for (const warning of target.warnings) warnings.add(warning);
  const goals = record.flag('is_multi_reward') ? record.records('goals') : [];
  return {
    record: canonicalOffer({
      external_id: record.text('id'),
      title: record.title('creatives.name', 'name'),
      description: description(record),
      payout: isFlat ? record.text('total_payout_usd') : undefined,
      currency: source.currency ?? 'USD',
      events:
        isFlat && goals.length > 0
          ? goals.map((goal) => ({
              event_id: goal.text('id') ?? null,
              description: goal.title('name', 'description') ?? null,
              payout: goal.text('payout_usd') ?? null,
            }))
          : undefined,
      status: 'nothing' in target ? 'paused' : 'active',
      countries: words,
      devices: 'nothing' in target ? [] : target.values,
      android_min_os: lowestVersion(record, 'android'),
      ios_min_os: lowestVersion(record, 'ios'),
      categories: record.texts('creatives.categories'),
      tracking_type: trackingType(type),
      image: record.text('creatives.icon_url'),
      destination_url: record.text('links.click_url'),
    }),
    warnings: [...warnings],
  };
}

/** A word that landing knows as no country, so that it refuses the offer. */
const unknownWord = 'a place without a country';

/** The description and, line by line, what users have to do. */
function description(record: NetworkRecord): string | undefined {
  const texts = [
    record.text('creatives.description'),
    ...record.records('creatives.instructions').map((step) => step.text('')),
  ];
  const lines = texts.flatMap((text) => plainText(text) ?? []);
  return lines.length === 0 ? undefined : lines.join('\n');
}

function lowestVersion(record: NetworkRecord, system: string): string | undefined {
  return record
    .records('os_targeting')
    .find((rule) => rule.text('name')?.toLowerCase() === system)
    ?.text('min');
}

function legacyOffer(record: NetworkRecord, source: SourceSettings): CanonicalRecord {
  const warnings = new Set<string>();
  const target = targetCountries(record.keys('Country.include'), record.keys('Country.exclude'));
  for (const warning of target.warnings) warnings.add(warning);
  if (['State', 'City'].some((place) => record.records(place).some((list) => list.records('').length > 0)))
    warnings.add('region_rules');
  const systems = legacySystems(record);
  const isNowhere = 'nothing' in target || systems === 'none';
  const type = record.text('Offer.tracking_type');
  const isFlat = type?.toUpperCase() !== paidByClick;
  if (!isFlat) warnings.add('no_fixed_payout');
  return {
    record: canonicalOffer({
      external_id: record.text('Offer.campaign_id'),
      title: record.title('Offer.name'),
      description: plainText(record.firstText('Offer.instructions', 'Offer.description')),
      payout: isFlat ? record.text('Offer.payout_usd') : undefined,
      currency: source.currency ?? 'USD',
      status: isNowhere ? 'paused' : 'active',
      countries: 'nothing' in target ? [] : target.values,
      devices: systems === 'none' ? [] : systems,
      categories: [record.text('Offer.category_1'), record.text('Offer.category_2')].filter(
        (name) => name !== undefined,
      ),
      tracking_type: trackingType(type),
      image: record.text('Offer.icon'),
      destination_url: record.text('Offer.tracking_url'),
    }),
    warnings: [...warnings],
  };
}

/** Systems that are true in the map; `none` where it has systems and none of them is. A list names those that are. */
function legacySystems(record: NetworkRecord): string[] | 'none' {
  const systems = record.keys('OS');
  if (systems.length === 0) return record.words('OS');
  const allowed = systems.filter((system) => record.flag(`OS.${system}`));
  return allowed.length === 0 ? 'none' : allowed;
}
