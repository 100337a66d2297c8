import { asEntities, type Dialect } from './dialect.ts';
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
  page: (_asked, offers) => ({ status: 200, body: { response: { offers: offers.map(toroxOffer) } } }),
  lacks: { currency: true, share: true, cap: true, paused: true, incentives: true, categories: true },
  isSinglePage: true,
};

function toroxOffer(offer: SimulatedOffer) {
  return {
    offer_id: offer.id,
    offer_name: asEntities(offer.title),
    offer_desc: asEntities(offer.description),
    offer_url: `https://track.example/click/offer?oid=${offer.id}&USER_ID=[USER_ID]`,
    offer_url_easy: `https://track.example/ifr/click/${offer.id}?user=[USER_ID]`,
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
