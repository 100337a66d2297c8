import { carried, pageOf, type Asked, type Dialect, type VisitedLink } from './dialect.ts';
import type { SimulatedConversion, SimulatedOffer } from './offers.ts';

const token = 'a-token-for-an-hour';

/** AdGem: a token by a form, answered with 201; pages without a total; no EUR, no shares, no limits. */
export const adgemDialect: Dialect = {
  secrets: (key) => ({ refresh_token: key }),
  isAuthorised: ({ path, headers, form }, key) =>
    path === '/v1/users/token' ? form.get('refresh_token') === key : headers['authorization'] === `Bearer ${token}`,
  unauthorised: { status: 401, body: { message: 'Unauthenticated.' } },
  throttled: { status: 429, body: { message: 'Too Many Attempts.' }, headers: { 'retry-after': '20' } },
  idOf: ({ id }) => id,
  followed: followedLink,
  postbackMacros: adgemMacros,
  // github.com/AdGem/adgem-integrations-documentation, docs/reference/offer-api.
  page({ path, query }, offers, { address }) {
    if (path === '/v1/users/token')
      return { status: 201, body: { message: 'Authorized', access_token: token, expires_in: 3600 } };
    const [page, size] = [Number(query.get('page')), Math.min(100, Number(query.get('per_page')))];
    const hasMore = page * size < offers.length;
    return {
      status: 200,
      body: {
        status: 'success',
        data: {
          offers: pageOf(offers, page, size).map((offer) => adgemOffer(offer, address)),
          pagination: {
            current_page: page,
            per_page: size,
            has_more_pages: hasMore,
            next_page: hasMore ? page + 1 : null,
          },
        },
        links: { support_portal: 'https://support.example/player?playerid={playerid}' },
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
  followed: followedLink,
  postbackMacros: adgemMacros,
  page(_asked, offers, { address }) {
    return {
      status: 200,
      body: {
        status: 'success',
        data: Object.fromEntries(offers.map((offer) => [offer.id, legacyOffer(offer, address)])),
        links: {},
      },
    };
  },
  lacks: { currency: true, share: true, cap: true, paused: true, incentives: true, total: true },
  isSinglePage: true,
};

/** Links have a macro for the player, which comes back in postbacks. */
function followedLink(asked: Asked): VisitedLink | undefined {
  if (asked.path !== '/v1/click') return undefined;
  return { offerId: asked.query.get('cid') ?? '', clickId: carried(asked, 'playerid') };
}

/** Macros of postbacks by GET: docs/integrate/reward-mechanism/postbacks-v2 of the same documentation. */
function adgemMacros({ id, clickId, payout }: SimulatedConversion): Record<string, string> {
  return { transaction_id: id, player_id: clickId ?? '', payout };
}

function linkOf({ id }: SimulatedOffer, address: string): string {
  return `${address}/v1/click?all=1&appid=31&cid=${id}&playerid={playerid}`;
}

function adgemOffer(offer: SimulatedOffer, address: string) {
  return {
    id: offer.id,
    campaign_id: Number(offer.id),
    name: `${offer.title} (INCENT)`,
    store_id: null,
    tracking_type: 'CPE',
    total_payout_usd: Number(offer.payout),
    is_multi_reward: false,
    creatives: {
      name: offer.title,
      icon_url: `https://images.example/${offer.id}.png`,
      description: asText(offer.description),
      instructions: [],
      categories: offer.categories,
    },
    goals: [{ amount: 5, payout_usd: Number(offer.payout) }],
    links: { click_url: linkOf(offer, address) },
    geo_targeting: {
      countries: offer.countries.map((code) => ({ name: `Country of ${code}`, iso_alpha2: code })),
      states: [],
      cities: [],
    },
    device_targeting: [],
    os_targeting: [],
  };
}

function asText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function legacyOffer(offer: SimulatedOffer, address: string) {
  const map = (codes: readonly string[]) =>
    codes.length === 0 ? [] : Object.fromEntries(codes.map((code) => [code, 1]));
  return {
    Offer: {
      campaign_id: Number(offer.id) % 2 === 0 ? Number(offer.id) : offer.id,
      name: offer.title,
      instructions: asText(offer.description),
      payout_usd: Number(offer.id) % 2 === 0 ? offer.payout : Number(offer.payout),
      tracking_type: 'CPI',
      category_1: offer.categories[0],
      category_2: '',
      icon: `https://images.example/${offer.id}.png`,
      tracking_url: linkOf(offer, address),
    },
    Country: { include: map(offer.countries), exclude: [] },
    State: [],
    City: [],
    OS: Number(offer.id) % 2 === 0 ? [] : { android: true, ios: true, web: true },
  };
}
