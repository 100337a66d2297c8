import type { Dialect } from './dialect.ts';
import type { SimulatedOffer } from './offers.ts';

/** ayeT: one page with the number of its offers, in USD; a limit of a million is none. */
export const ayetDialect: Dialect = {
  secrets: (key) => ({ api_key: key, ad_slot: '4711' }),
  isAuthorised: ({ path, query }, key) => path === '/offers/get/4711' && query.get('apiKey') === key,
  unauthorised: { status: 200, body: { status: 'error', error: 'invalid api key' } },
  throttled: { status: 429, body: { status: 'error' } },
  idOf: ({ id }) => id,
  page(_asked, offers) {
    return { status: 200, body: { status: 'success', num_offers: offers.length, offers: offers.map(ayetOffer) } };
  },
  lacks: { currency: true, share: true, paused: true, incentives: true },
  isSinglePage: true,
};

function ayetOffer(offer: SimulatedOffer) {
  return {
    id: Number(offer.id),
    name: offer.title,
    i18n: { en: { conversion_instructions_long: offer.description.replaceAll('&', '&amp;').replaceAll('<', '&lt;') } },
    payout_usd: Number(offer.payout),
    conversion_type: 'cpa',
    countries: offer.countries,
    platforms: [],
    tags: { categories: offer.categories },
    icon: `https://images.example/${offer.id}.png`,
    landing_page: `https://preview.example/${offer.id}`,
    tracking_link: `https://track.example/${offer.id}/{external_identifier}`,
    daily_cap: offer.dailyCap ?? 1_000_000,
    epc: 'new',
    tasks: [],
  };
}
