import { asHtml, ofDays, type Dialect } from './dialect.ts';
import type { SimulatedOffer } from './offers.ts';

/** CAKE: rows from 1, the key in the query, `row_count` of the list, 250 rows at most. */
export const cakeDialect: Dialect = {
  secrets: (key) => ({ api_key: key, affiliate_id: '77' }),
  isAuthorised: ({ query }, key) => query.get('api_key') === key && query.has('affiliate_id'),
  unauthorised: { status: 200, body: { success: false, message: 'invalid api_key', row_count: 0, data: [] } },
  throttled: { status: 503, body: 'Service Unavailable' },
  idOf: ({ id }) => `${id}-${Number(id) * 3}`,
  conversions: {
    isAsked: ({ path }) => path.endsWith('/Reports/Conversions'),
    timeZone: 'UTC',
    page({ query }, conversions) {
      const [from, limit] = [Number(query.get('start_at_row')), Math.min(250, Number(query.get('row_limit')))];
      const rows = ofDays(conversions, query.get('start_date'), query.get('end_date')).slice(
        from - 1,
        from - 1 + limit,
      );
      const data = rows.map(({ id, clickId, status, payout, at }) => ({
        conversion_id: id,
        conversion_date: `${at.slice(5, 7)}/${at.slice(8, 10)}/${at.slice(0, 4)} ${at.slice(11, 19)}`,
        disposition: { approved: 'Approved', pending: 'Pending', rejected: 'Rejected' }[status],
        price: Number(payout),
        subid_1: clickId,
        tracking_id: `theirs-${id}`,
      }));
      // Here it counts the page.
      return { status: 200, body: { success: true, row_count: data.length, data } };
    },
  },
  page({ query }, offers) {
    const [from, limit] = [Number(query.get('start_at_row')), Math.min(250, Number(query.get('row_limit')))];
    return {
      status: 200,
      body: {
        success: true,
        message: '',
        row_count: offers.length,
        data: offers.slice(from - 1, from - 1 + limit).map(cakeOffer),
      },
    };
  },
  firstPage: { parameter: 'start_at_row', value: '1' },
  currency: 'USD',
  lacks: { currency: true, cap: true },
};

function cakeOffer(offer: SimulatedOffer) {
  return {
    offer_id: Number(offer.id),
    offer_contract_id: Number(offer.id) * 3,
    campaign_id: Number(offer.id) % 5 === 0 ? null : 9,
    offer_name: offer.title,
    description: asHtml(offer.description),
    restrictions: '',
    vertical_name: offer.categories[0],
    offer_status: offer.isActive ? 'Active' : 'Apply To Run',
    price_format: offer.pays === 'flat' ? 'CPA' : 'RevShare',
    price: Number(offer.payout),
    currency_symbol: '$',
    allowed_countries: offer.countries.map((country_code) => ({ country_code, country_name: `The ${country_code}` })),
    thumbnail_image_url: `https://images.example/${offer.id}.png`,
    preview_link: '',
    date_created: '03/29/2026 02:30:00',
  };
}
