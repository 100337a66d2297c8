import { canonicalOffer } from '../records/canonical-offer.ts';
import type { CanonicalRecord, Connector, SourceSettings } from './connector.ts';
import { plainText } from '../../kit/intake/mapping/html.ts';
import type { NetworkRecord } from '../records/record-fields.ts';
import { targetCountries } from '../../kit/vocabulary/targeting.ts';

/**
 * AdGem's offer API: a token for an hour, at most 60 requests a minute, pages of a hundred without a total. The names
 * of its fields are known from other people's clients only, so some have two possible names.
 */
export const adgem: Connector = {
  name: 'adgem',
  baseUrl: 'https://offer-api.adgem.com',
  secrets: ['refresh_token'],
  offers: {
    isFull: true,
    path: '/v1/offers',
    query: { per_page: '{size}', page: '{page}' },
    headers: { Authorization: 'Bearer {token}' },
    token: {
      path: '/v1/users/token',
      form: { grant_type: 'refresh_token', refresh_token: '{refresh_token}' },
      at: 'access_token',
    },
    records: 'data',
    paging: { kind: 'page', size: 100, more: 'pagination.has_more_pages' },
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
    path: '/v1/all/campaigns',
    query: { appid: '{app_id}', token: '{token}' },
    records: 'data',
    success: [{ at: 'status', is: ['success'] }],
    budget: { requests: 30, seconds: 60 },
    toCanonical: legacyOffer,
  },
};

function adgemOffer(record: NetworkRecord, source: SourceSettings): CanonicalRecord {
  const target = targetCountries(record.texts('geo_targeting.include'), record.texts('geo_targeting.exclude'));
  return {
    record: canonicalOffer({
      external_id: record.firstText('id', 'offer_id'),
      title: record.text('name'),
      description: plainText(record.firstText('instructions', 'description')),
      payout: record.firstText('total_payout_usd', 'payout_usd'),
      currency: source.currency ?? 'USD',
      status: 'nothing' in target ? 'paused' : 'active',
      countries: 'nothing' in target ? [] : target.values,
      devices: record.texts('os_targeting'),
      categories: record.texts('categories'),
      image: record.firstText('icon_url', 'icon'),
      destination_url: record.firstText('tracking_url', 'click_url'),
    }),
    warnings: target.warnings,
  };
}

function legacyOffer(record: NetworkRecord, source: SourceSettings): CanonicalRecord {
  const names = (place: string) => [...record.keys(place), ...record.texts(place)];
  const target = targetCountries(record.keys('Country.include'), record.keys('Country.exclude'));
  return {
    record: canonicalOffer({
      external_id: record.text('Offer.campaign_id'),
      title: record.text('Offer.name'),
      description: plainText(record.firstText('Offer.instructions', 'Offer.description')),
      payout: record.text('Offer.payout_usd'),
      currency: source.currency ?? 'USD',
      status: 'nothing' in target ? 'paused' : 'active',
      countries: 'nothing' in target ? [] : target.values,
      devices: [...new Set(names('OS').filter((name) => record.flag(`OS.${name}`)))],
      categories: [record.text('Offer.category_1'), record.text('Offer.category_2')].filter(
        (name) => name !== undefined,
      ),
      image: record.text('Offer.icon'),
      destination_url: record.text('Offer.tracking_url'),
    }),
    warnings: target.warnings,
  };
}
