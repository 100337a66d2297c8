import { asHtml, carried, ofDays, pageOf, type NetworkAnswer, type Asked, type Dialect } from './dialect.ts';
import type { SimulatedConversion, SimulatedOffer } from './offers.ts';

/** TUNE: HTTP 200 for everything, maps for lists, texts for numbers, and the request, key included, in every answer. */
export const tuneDialect: Dialect = {
  secrets: (key) => ({ api_key: key }),
  idOf: ({ id }) => id,
  firstPage: { parameter: 'page', value: '1' },
  isAuthorised: ({ query }, key) => query.get('api_key') === key,
  unauthorised: { status: 200, body: failure('API key is invalid') },
  throttled: {
    status: 200,
    body: failure('API usage exceeded rate limit. Configured: 50/10s window; Your usage: 51.'),
  },
  conversions: {
    isAsked: ({ query }) => query.get('Method') === 'getConversions',
    page: conversionPage,
    timeZone: 'Europe/Berlin',
  },
  // Links: TrackingLink.click_url of developers.tune.com/affiliate/affiliate_offer-findmyapprovedoffers; `aff_sub`
  // comes back as Stat.affiliate_info1 (developers.tune.com/affiliate-models/conversionreport).
  followed(asked) {
    if (asked.path !== '/aff_c') return undefined;
    return { offerId: asked.query.get('offer_id') ?? '', clickId: carried(asked, 'aff_sub') };
  },
  page({ query }, offers, { key, address }) {
    const [page, limit] = [Number(query.get('page') ?? 1), Number(query.get('limit') ?? 1e9)];
    // JavaScript orders keys of an object that are whole numbers, as PHP's arrays do not.
    const data = Object.fromEntries(pageOf(offers, page, limit).map((offer) => [offer.id, tuneOffer(offer, address)]));
    const found = Object.keys(data).length;
    return {
      status: 200,
      body: {
        request: { Target: 'Affiliate_Offer', api_key: key, page: String(page) },
        response: {
          status: 1,
          httpStatus: 200,
          data: {
            page: String(page),
            current: found,
            count: String(offers.length),
            pageCount: page % 2 === 0 ? null : Math.ceil(offers.length / limit),
            data: found === 0 ? [] : data,
          },
          errorMessage: null,
        },
      },
    };
  },
};

/** Texts of Berlin's clocks, without saying so. */
function conversionPage({ query }: Asked, conversions: readonly SimulatedConversion[]): NetworkAnswer {
  const [page, limit] = [Number(query.get('page') ?? 1), Number(query.get('limit') ?? 1e9)];
  const asked = ofDays(conversions, query.get('data_start'), query.get('data_end'));
  const rows = pageOf(asked, page, limit).map(({ id, clickId, status, payout, at }) => ({
    Stat: {
      id,
      // Beside the id that it replaces: developers.tune.com/network-models/conversionreport.
      tune_event_id: `e-${id}`,
      datetime: inBerlin(at),
      payout: `${payout}0`,
      currency: 'USD',
      conversion_status: status,
      affiliate_info1: clickId ?? '',
    },
    Goal: { name: null },
  }));
  return {
    status: 200,
    body: {
      response: {
        status: 1,
        data: {
          page,
          current: rows.length,
          count: asked.length,
          pageCount: Math.ceil(asked.length / limit),
          data: rows,
        },
        errorMessage: '',
      },
    },
  };
}

function inBerlin(moment: string): string {
  return new Date(moment).toLocaleString('sv-SE', { timeZone: 'Europe/Berlin' });
}

function failure(errorMessage: string) {
  return {
    request: {},
    response: { status: -1, httpStatus: 400, data: '', errors: [{ publicMessage: errorMessage }], errorMessage },
  };
}

function tuneOffer(offer: SimulatedOffer, address: string) {
  return {
    Offer: {
      id: offer.id,
      name: offer.title,
      description: asHtml(offer.description),
      preview_url: `https://preview.example/${offer.id}`,
      payout_type: offer.pays === 'flat' ? 'cpa_flat' : 'cpa_percentage',
      default_payout: `${offer.payout}000`,
      percent_payout: '10.00',
      // Null is the network's own currency.
      currency: offer.currency === 'USD' ? null : offer.currency,
      status: offer.isActive ? 'active' : 'paused',
      is_expired: '0',
      conversion_cap: String(offer.dailyCap ?? 0),
    },
    Country:
      offer.countries.length === 0
        ? []
        : Object.fromEntries(offer.countries.map((code) => [code, { code, name: `Country of ${code}` }])),
    OfferCategory: Object.fromEntries(
      offer.categories.map((name, index) => [String(index), { id: String(index), name }]),
    ),
    Thumbnail: { id: '5', url: `https://images.example/${offer.id}.png` },
    TrackingLink: { click_url: `${address}/aff_c?offer_id=${offer.id}&aff_id=9` },
    // A map by id, with goals that are over: developers.tune.com/affiliate-models/goal.
    Goal: { 13: { id: '13', name: 'Old', status: 'deleted', payout_type: 'cpa_flat', default_payout: '9.00000' } },
    OfferOperatingSystem: [],
  };
}
