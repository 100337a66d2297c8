import { asEntities, followedBy, pageOf, type Dialect } from './dialect.ts';
import type { SimulatedOffer } from './offers.ts';

const pageSize = 500;

/**
 * Notik: pages that name the next one's address without the keys, in USD. No page of the vendor shows the list: path,
 * envelope, fields and the forms of `country_code` (a list, a text with commas, a map, `all`) are those of public
 * clients.
 */
export const notikDialect: Dialect = {
  secrets: (key) => ({ api_key: key, pub_id: 'p1', app_id: 'a1' }),
  idOf: ({ id }) => id,
  firstPage: { parameter: 'page', value: '1' },
  isAuthorised: ({ query }, key) => query.get('api_key') === key && query.get('pub_id') === 'p1',
  unauthorised: { status: 200, body: { status: 'error', code: '401', message: 'invalid api key' } },
  throttled: { status: 429, body: { status: 'error' } },
  // The vendor's page on postbacks, which a client keeps.
  postbackMacros: ({ id, clickId, payout }) => ({
    user_id: clickId ?? '',
    txn_id: id,
    rewarded_txn_id: '',
    event_id: '',
    payout,
  }),
  followed: followedBy('user_id'),
  page({ path, query }, offers, { address }) {
    const page = Number(query.get('page') ?? 1);
    const has_more_pages = page * pageSize < offers.length;
    const next_page_url = has_more_pages ? `${address}${path}?page=${page + 1}` : null;
    const data = pageOf(offers, page, pageSize).map((offer) => notikOffer(offer, address));
    return { status: 200, body: { status: 'success', offers: { data, has_more_pages, next_page_url } } };
  },
  lacks: { currency: true, share: true, cap: true, paused: true, incentives: true, total: true },
};

function notikOffer(offer: SimulatedOffer, address: string) {
  return {
    offer_id: offer.id,
    name: asEntities(offer.title),
    description1: asEntities(offer.description),
    description2: null,
    image_url: ` https://images.example/${offer.id}.png`,
    click_url: `${address}/follow/${offer.id}?user_id=[user_id]`,
    payout: Number(offer.id) % 2 === 0 ? offer.payout : Number(offer.payout),
    country_code: countriesOf(offer),
    os: ['all'],
    categories: offer.categories,
  };
}

function countriesOf({ id, countries }: SimulatedOffer): unknown {
  if (countries.length === 0) return ['all'];
  const forms = [countries, countries.join(','), Object.fromEntries(countries.entries())];
  return forms[Number(id) % 3];
}
