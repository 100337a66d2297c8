import { asEntities, followedBy, pageOf, type Dialect } from './dialect.ts';
import type { SimulatedOffer } from './offers.ts';

/**
 * Offer18: pages from 0 of at most 1,000, a map by id, lists as texts with commas. Parameters and fields:
 * knowledgebase.offer18.com/affiliate/affiliate-apis/offers-api. `response` and the answer behind the last page,
 * `no offers found`, are known from clients alone, as are the macros of an affiliate's postbacks.
 */
export const offer18Dialect: Dialect = {
  secrets: (key) => ({ mid: '77', aid: '1234', key }),
  idOf: ({ id }) => id,
  firstPage: { parameter: 'page', value: '0' },
  isAuthorised: ({ query }, key) =>
    query.get('key') === key && query.get('mid') === '77' && query.get('aid') === '1234',
  unauthorised: { status: 200, body: { response: '400', error: 'invalid key' } },
  throttled: { status: 429, body: { response: '429' } },
  postbackMacros: ({ id, clickId, payout }) => ({ aff_click_id: clickId ?? '', tid: id, payout }),
  followed: followedBy('aff_click_id'),
  page({ query }, offers, { address }) {
    const listed = pageOf(offers, Number(query.get('page')) + 1, Number(query.get('limit')), 1000);
    if (listed.length === 0) return { status: 200, body: { response: '400', error: 'no offers found' } };
    const data = Object.fromEntries(listed.map((offer) => [offer.id, offer18Offer(offer, address)]));
    return { status: 200, body: { response: '200', data } };
  },
  lacks: { cap: true, incentives: true, total: true },
};

function offer18Offer(offer: SimulatedOffer, address: string) {
  return {
    offerid: offer.id,
    name: asEntities(offer.title),
    logo: `https://images.example/${offer.id}.png`,
    status: offer.isActive ? 'active' : 'paused',
    currency: offer.currency,
    price: offer.payout,
    model: offer.pays === 'flat' ? 'CPA' : 'CPS',
    category: offer.categories.join(','),
    country_allow: offer.countries.join(','),
    country_block: '',
    os_allow: '',
    os_block: '',
    device_allow: '',
    device_block: '',
    offer_terms: asEntities(offer.description),
    offer_kpi: '',
    preview_url: `https://preview.example/${offer.id}`,
    click_url: `${address}/follow/${offer.id}?m=77&a=1234`,
    authorized: 1,
    events: [],
  };
}
