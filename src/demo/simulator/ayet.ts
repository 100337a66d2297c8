import { asEntities, carried, type Dialect } from './dialect.ts';
import type { SimulatedOffer } from './offers.ts';

/** ayeT: one page with the number of its offers, in USD; a limit of a million is none. */
export const ayetDialect: Dialect = {
  secrets: (key) => ({ api_key: key, ad_slot: '4711' }),
  isAuthorised: ({ path, query }, key) => path === '/offers/get/4711' && query.get('apiKey') === key,
  unauthorised: { status: 200, body: { status: 'error', error: 'invalid api key' } },
  throttled: { status: 429, body: { status: 'error' } },
  idOf: ({ id }) => id,
  // The identifier of the link is `{external_identifier}` of the postback (docs.ayetstudios.com/v/product-docs,
  // callbacks).
  followed(asked) {
    const [, , kind, offerId] = asked.path.split('/');
    if (kind !== 'pub') return undefined;
    return { offerId: offerId ?? '', clickId: carried(asked, 'external_identifier') };
  },
  postbackMacros: ({ id, clickId, payout }) => ({
    transaction_id: id,
    external_identifier: clickId ?? '',
    payout_usd: payout,
  }),
  page(_asked, offers, { address }) {
    const listed = offers.map((offer) => ayetOffer(offer, address));
    return { status: 200, body: { status: 'success', num_offers: listed.length, offers: listed } };
  },
  lacks: { currency: true, share: true, paused: true, incentives: true },
  isSinglePage: true,
};

function ayetOffer(offer: SimulatedOffer, address: string) {
  return {
    id: Number(offer.id),
    name: offer.title,
    i18n: { en: { conversion_instructions_long: asEntities(offer.description) } },
    payout_usd: Number(offer.payout),
    conversion_type: 'cpa',
    countries: offer.countries,
    platforms: [],
    devices: [],
    state_targeting: null,
    tags: { categories: offer.categories },
    icon: `https://images.example/${offer.id}.png`,
    landing_page: `https://preview.example/${offer.id}`,
    tracking_link: `${address}/s2s/pub/${offer.id}/1595?external_identifier={external_identifier}`,
    daily_cap: offer.dailyCap ?? 1_000_000,
    epc: 'new',
    tasks: [],
  };
}
