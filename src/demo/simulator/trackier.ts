import { asHtml, followedBy, pageOf, type Dialect } from './dialect.ts';
import type { SimulatedOffer } from './offers.ts';

/**
 * Trackier: the key in the query, pages of at most 500 with the number of campaigns in `count`. No page of the vendor
 * shows the answer: path, envelope and fields are those of public clients (of vCommission, and of offer aggregators).
 * Links take the click id in `p1`, postbacks have it in `{p1}`:
 * help.trackier.com/en/articles/8107293-publisher-tracking-link-parameters-and-postback-macros.
 */
export const trackierDialect: Dialect = {
  secrets: (key) => ({ api_key: key }),
  idOf: ({ id }) => id,
  firstPage: { parameter: 'page', value: '1' },
  isAuthorised: ({ query }, key) => query.get('apiKey') === key,
  unauthorised: { status: 401, body: { success: false, error: { code: 401, message: 'Invalid API Key' } } },
  throttled: { status: 429, body: { success: false }, headers: { 'retry-after': '1' } },
  postbackMacros: ({ id, clickId, payout }) => ({ p1: clickId ?? '', txn_id: id, payout }),
  followed: followedBy('p1'),
  page({ query }, offers, { address }) {
    const [page, size] = [Number(query.get('page')), Number(query.get('limit'))];
    const campaigns = pageOf(offers, page, size, 500).map((offer) => trackierCampaign(offer, address));
    return { status: 200, body: { success: true, data: { page, count: offers.length, campaigns } } };
  },
  lacks: { share: true, incentives: true },
};

function trackierCampaign(offer: SimulatedOffer, address: string) {
  return {
    id: Number(offer.id),
    title: offer.title.replaceAll('&', '&amp;'),
    description: asHtml(offer.description),
    status: offer.isActive ? 'active' : 'paused',
    model: 'cpa',
    currency: offer.currency,
    // The lowest counts.
    payouts: [
      { payout: Number(offer.payout) + 1, geo: ['US'] },
      { payout: Number(offer.payout), geo: [] },
    ],
    goals: [],
    categories: offer.categories,
    countries: offer.countries,
    os: ['all'],
    device: ['all'],
    cap: offer.dailyCap === null ? null : { type: 'conversion', daily: offer.dailyCap, monthly: 0, lifetime: 0 },
    thumbnail: `https://images.example/${offer.id}.png`,
    preview_url: `https://preview.example/${offer.id}`,
    tracking_link: `${address}/follow/${offer.id}?pub_id=7`,
  };
}
