import { asHtml, carried, ofDays, pageOf, type Dialect } from './dialect.ts';
import type { SimulatedOffer } from './offers.ts';

/** Everflow: the key in a header, sizes clamped, lists now plain and now under `entries`. */
export const everflowDialect: Dialect = {
  secrets: (key) => ({ api_key: key }),
  idOf: ({ id }) => id,
  firstPage: { parameter: 'page', value: '1' },
  isAuthorised: ({ headers }, key) => headers['x-eflow-api-key'] === key,
  unauthorised: { status: 401, body: { Error: 'Unauthorized' } },
  throttled: { status: 429, body: { Error: 'Too many requests' }, headers: { 'retry-after': '1' } },
  conversions: {
    isAsked: ({ path }) => path.endsWith('/reporting/conversions'),
    page({ query, json }, conversions) {
      const [page, size] = [Number(query.get('page') ?? 1), Math.min(2000, Number(query.get('page_size') ?? 50))];
      const asked = ofDays(conversions, json['from'], json['to']);
      return {
        status: 200,
        body: {
          conversions: pageOf(asked, page, size).map(({ id, clickId, status, payout, at }) => ({
            conversion_id: id,
            conversion_unix_timestamp: Date.parse(at) / 1000,
            status: status === 'rejected' ? 'invalid' : status,
            revenue: Number(payout),
            currency_id: 'USD',
            sub1: clickId ?? '',
            transaction_id: `theirs-${id}`,
          })),
          paging: { page, page_size: size, total_count: asked.length },
        },
      };
    },
  },
  // `tracking_url` has the affiliate and the offer in its path; `sub1` comes back in the list of conversions
  // (developers.everflow.io/api-reference/post-affiliatesreportingconversions).
  followed(asked) {
    const [, affiliate, offerId] = asked.path.split('/');
    return affiliate === linkOf ? { offerId: offerId ?? '', clickId: carried(asked, 'sub1') } : undefined;
  },
  page({ query }, offers, { address }) {
    const [page, size] = [Number(query.get('page') ?? 1), Math.min(2000, Number(query.get('page_size') ?? 50))];
    return {
      status: 200,
      body: {
        offers: pageOf(offers, page, size).map((offer) => everflowOffer(offer, address)),
        paging: { page, page_size: size, total_count: offers.length },
      },
      headers: { 'x-ratelimit-limit': '300', 'x-ratelimit-remaining': '299' },
    };
  },
};

/** The affiliate, as its links have it. */
const linkOf = '2CTPL';

function everflowOffer(offer: SimulatedOffer, address: string) {
  const rules = offer.countries.map((country_code) => ({
    country_code,
    targeting_type: 'include',
    match_type: 'exact',
  }));
  const isOdd = Number(offer.id) % 2 === 1;
  return {
    network_offer_id: Number(offer.id),
    name: offer.title,
    html_description: isOdd ? offer.description : asHtml(offer.description),
    is_description_plain_text: isOdd,
    thumbnail_url: `https://images.example/${offer.id}.png`,
    preview_url: `https://preview.example/${offer.id}`,
    tracking_url: `${address}/${linkOf}/${offer.id}/`,
    offer_status: offer.isActive ? 'active' : 'paused',
    currency_id: offer.currency,
    is_caps_enabled: offer.dailyCap !== null,
    daily_conversion_cap: offer.dailyCap ?? 0,
    daily_click_cap: 0,
    time_created: 1_760_000_000,
    time_saved: 1_763_000_000,
    relationship: {
      category: { name: offer.categories[0] },
      payouts: {
        total: 2,
        entries: [
          {
            entry_name: 'Base',
            payout_type: offer.pays === 'flat' ? 'cpa' : 'cps',
            payout_amount: Number(offer.payout),
            is_default: true,
          },
          { entry_name: 'Purchase', payout_type: 'cps', payout_amount: 0, is_default: false },
        ],
      },
      ruleset: { countries: isOdd ? rules : { total: rules.length, entries: rules }, platforms: [], device_types: [] },
    },
  };
}
