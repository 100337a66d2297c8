import { carried, type Dialect } from './dialect.ts';
import type { SimulatedOffer } from './offers.ts';

/** OGAds: what it has for one visitor; comma lists, payouts as text, torn tags. */
export const ogadsDialect: Dialect = {
  secrets: (key) => ({ api_key: key, ip: '203.0.113.9', user_agent: 'Mozilla/5.0 (X11)' }),
  isAuthorised: ({ query, headers }, key) => headers['authorization'] === `Bearer ${key}` && query.has('ip'),
  unauthorised: { status: 401, body: { success: false, error: 'Unauthorized' } },
  throttled: { status: 429, body: { success: false, error: 'Too many requests' } },
  idOf: ({ id }) => id,
  // Links take sub ids as TUNE's do; postbacks have no id of the conversion, as clients' addresses for them show:
  // `…/webhook/postback/ogads?aff_sub={aff_sub}&payout={payout}&offer_id={offer_id}&ip={ip}`.
  followed(asked) {
    const [, kind, offerId] = asked.path.split('/');
    return kind === 'go' ? { offerId: offerId ?? '', clickId: carried(asked, 'aff_sub') } : undefined;
  },
  postbackMacros: ({ clickId, payout }) => ({ aff_sub: clickId ?? '', payout }),
  page(_asked, offers, { address }) {
    const listed = offers.map((offer) => ogadsOffer(offer, address));
    return { status: 200, body: { success: true, error: null, offers: listed } };
  },
  lacks: { currency: true, share: true, cap: true, paused: true, incentives: true, categories: true, total: true },
  isSinglePage: true,
  isDelta: true,
};

function ogadsOffer(offer: SimulatedOffer, address: string) {
  return {
    offerid: Number(offer.id),
    name: `${offer.title} long`,
    name_short: offer.title,
    adcopy: `${offer.description.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}<a href="x`,
    description: '<b>torn',
    payout: offer.payout,
    country: offer.countries.join(', '),
    device: '',
    picture: `https://images.example/${offer.id}.png`,
    link: `${address}/go/${offer.id}`,
  };
}
