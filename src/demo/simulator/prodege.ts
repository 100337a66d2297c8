import { asEntities, followedBy, type Dialect } from './dialect.ts';
import type { SimulatedOffer } from './offers.ts';

/**
 * Prodege, whose offers were AdGate's: one page, in USD, no total. Parameters:
 * docs.prodegeads.com/publisher-apis/offers-api (`aff`, `api_key`, `wall_code`). `status` and the list at `data` are
 * known from clients alone.
 */
export const prodegeDialect: Dialect = {
  secrets: (key) => ({ aff: '60000', api_key: key, wall_code: 'nQug' }),
  idOf: ({ id }) => id,
  isAuthorised: ({ query }, key) => query.get('api_key') === key && query.get('aff') === '60000',
  unauthorised: { status: 200, body: { status: 'error', message: 'Invalid API key' } },
  throttled: { status: 429, body: { status: 'error', message: 'Too many requests' } },
  // docs.prodegeads.com/postbacks/postback-information
  postbackMacros: ({ id, clickId, payout }) => ({ s1: clickId ?? '', conversion_id: id, payout, state: 'approved' }),
  followed: followedBy('s1'),
  page(_asked, offers, { address }) {
    return { status: 200, body: { status: 'success', data: offers.map((offer) => prodegeOffer(offer, address)) } };
  },
  lacks: { currency: true, share: true, cap: true, paused: true, incentives: true },
  isSinglePage: true,
};

/**
 * BitLabs: Prodege's offers by `limit` and `skip`. Parameters and shape: developer.bitlabs.ai/docs/static-offer-api.
 */
export const bitlabsDialect: Dialect = {
  secrets: (key) => ({ s2s_token: key }),
  idOf: ({ id }) => id,
  firstPage: { parameter: 'skip', value: '0' },
  isAuthorised: ({ headers }, key) => headers['x-s2s-token'] === key,
  unauthorised: { status: 401, body: { status: 'error', error: { details: { http: '401', msg: 'invalid token' } } } },
  throttled: { status: 429, body: { status: 'error' }, headers: { 'retry-after': '1' } },
  // developer.bitlabs.ai/docs/callback-parameters
  postbackMacros: ({ id, clickId, payout }) => ({
    '[%USER:UID%]': clickId ?? '',
    '[%TX%]': id,
    '[%REF%]': '',
    '[%VALUE:USD%]': payout,
  }),
  followed: followedBy('s1'),
  page({ query }, offers, { address }) {
    const skip = Number(query.get('skip'));
    const listed = offers.slice(skip, skip + Math.min(1000, Number(query.get('limit'))));
    return {
      status: 200,
      body: { status: 'success', data: { offers: listed.map((offer) => prodegeOffer(offer, address)) } },
    };
  },
  lacks: { currency: true, share: true, cap: true, paused: true, incentives: true, total: true },
};

/** Shape of an offer: the example of developer.bitlabs.ai/docs/static-offer-api, whose links lead to Prodege's wall. */
function prodegeOffer(offer: SimulatedOffer, address: string) {
  const event = { is_cpc: false, multiple_conversions_allowed: false, points: '0' };
  return {
    id: Number(offer.id),
    name: `${offer.title} (incent)`,
    anchor: asEntities(offer.title),
    description: 'An app',
    requirements: asEntities(offer.description),
    epc: '12.77',
    categories: offer.categories,
    creatives: { icon: `https://images.example/${offer.id}.png`, images: {} },
    click_url: `${address}/follow/${offer.id}?source_type=offer_api&s1=`,
    geo_targeting: { countries: offer.countries.map((country_code) => ({ country_code })) },
    device_targeting: { browsers: [], devices: [], operating_systems: [], platforms: [{ name: 'smartphone' }] },
    events: [
      { ...event, id: `${offer.id}-install`, name: 'Install', payout: '0', payout_type: 'flat' },
      { ...event, id: `${offer.id}-done`, name: 'Completed', payout: offer.payout, payout_type: 'flat' },
    ],
  };
}
