import { hash } from 'node:crypto';
import { asEntities, followedBy, type Dialect } from './dialect.ts';
import type { SimulatedOffer } from './offers.ts';

/**
 * Torox, formerly OfferToro: one page at `response.offers`, in USD. `secretkey` and the macro `[USER_ID]`:
 * www.offertoro.com/docs; the fields of an offer are known from public clients alone.
 */
export const toroxDialect: Dialect = {
  secrets: (key) => ({ pubid: '300', appid: '150', secretkey: key }),
  idOf: ({ id }) => id,
  isAuthorised: ({ query }, key) => query.get('secretkey') === key && query.get('pubid') === '300',
  unauthorised: { status: 200, body: { response: { status: 'error', error: 'wrong secret key' } } },
  throttled: { status: 429, body: { response: { status: 'error' } } },
  // www.offertoro.com/docs/postback
  postbackMacros({ id, clickId, payout }, key) {
    const [oid, user_id] = ['1001', clickId ?? ''];
    return { id, oid, user_id, payout, sig: hash('md5', `${oid}-${user_id}-${key}`) };
  },
  followed: followedBy('user'),
  page(_asked, offers, { address }) {
    return { status: 200, body: { response: { offers: offers.map((offer) => toroxOffer(offer, address)) } } };
  },
  lacks: { currency: true, share: true, cap: true, paused: true, incentives: true, categories: true },
  isSinglePage: true,
};

function toroxOffer(offer: SimulatedOffer, address: string) {
  return {
    offer_id: offer.id,
    offer_name: asEntities(offer.title),
    offer_desc: asEntities(offer.description),
    offer_url: `${address}/follow/${offer.id}?user=[USER_ID]&long=1`,
    offer_url_easy: `${address}/follow/${offer.id}?user=[USER_ID]`,
    payout: offer.payout,
    payout_type: 'cpa',
    amount: 100,
    countries: offer.countries,
    platform: 'web',
    device: '',
    image_url: `https://images.example/${offer.id}.png`,
    events: [],
  };
}
