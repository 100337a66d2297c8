import { pageOf, type Dialect } from './dialect.ts';
import type { SimulatedOffer } from './offers.ts';

const token = 'a-token-for-an-hour';

/** AdGem: a token by a form, answered with 201; pages without a total; no EUR, no shares, no limits. */
export const adgemDialect: Dialect = {
  secrets: (key) => ({ refresh_token: key }),
  isAuthorised: ({ path, headers, form }, key) =>
    path === '/v1/users/token' ? form.get('refresh_token') === key : headers['authorization'] === `Bearer ${token}`,
  unauthorised: { status: 401, body: { message: 'Unauthenticated.' } },
  throttled: { status: 429, body: { message: 'Too Many Attempts.' }, headers: { 'retry-after': '20' } },
  idOf: ({ id }) => id,
  page({ path, query }, offers) {
    if (path === '/v1/users/token') return { status: 201, body: { access_token: token, expires_in: 3600 } };
    const [page, size] = [Number(query.get('page')), Number(query.get('per_page'))];
    const hasMore = page * size < offers.length;
    return {
      status: 200,
      body: {
        data: pageOf(offers, page, size).map(adgemOffer),
        pagination: { current_page: page, has_more_pages: hasMore, next_page: hasMore ? page + 1 : null },
      },
    };
  },
  firstPage: { parameter: 'page', value: '1' },
  lacks: { currency: true, share: true, cap: true, paused: true, incentives: true, total: true },
};

/** The older API: one page, a map by id. */
export const adgemLegacyDialect: Dialect = {
  secrets: (key) => ({ app_id: '31', token: key }),
  isAuthorised: ({ query }, key) => query.get('token') === key && query.get('appid') === '31',
  unauthorised: { status: 401, body: { status: 'error', message: 'bad token' } },
  throttled: { status: 429, body: { status: 'error' } },
  idOf: ({ id }) => id,
  page(_asked, offers) {
    return {
      status: 200,
      body: {
        status: 'success',
        data: Object.fromEntries(offers.map((offer) => [offer.id, legacyOffer(offer)])),
        links: {},
      },
    };
  },
  lacks: { currency: true, share: true, cap: true, paused: true, incentives: true, total: true },
  isSinglePage: true,
};

function adgemOffer(offer: SimulatedOffer) {
  return {
    id: Number(offer.id),
    name: offer.title,
    instructions: offer.description.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
    total_payout_usd: Number(offer.payout),
    geo_targeting: { include: offer.countries, exclude: [] },
    os_targeting: [],
    categories: offer.categories,
    icon_url: `https://images.example/${offer.id}.png`,
    tracking_url: `https://track.example/${offer.id}?u={playerid}`,
  };
}

function legacyOffer(offer: SimulatedOffer) {
  const map = (codes: readonly string[]) =>
    codes.length === 0 ? [] : Object.fromEntries(codes.map((code) => [code, 1]));
  return {
    Offer: {
      campaign_id: Number(offer.id) % 2 === 0 ? Number(offer.id) : offer.id,
      name: offer.title,
      instructions: offer.description.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
      payout_usd: Number(offer.id) % 2 === 0 ? offer.payout : Number(offer.payout),
      category_1: offer.categories[0],
      category_2: '',
      icon: `https://images.example/${offer.id}.png`,
      tracking_url: `https://track.example/${offer.id}?u={playerid}`,
    },
    Country: { include: map(offer.countries), exclude: [] },
    OS: { android: 0, ios: 0, web: 0 },
  };
}
