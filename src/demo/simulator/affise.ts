import { asHtml, carried, ofDays, pageOf, type Dialect } from './dialect.ts';
import type { SimulatedOffer } from './offers.ts';

/** Affise: failures with HTTP 200, sizes cut to 500, `next_page` absent on the last page, `[]` for empty maps. */
export const affiseDialect: Dialect = {
  secrets: (key) => ({ api_key: key }),
  isAuthorised: ({ headers }, key) => headers['api-key'] === key,
  unauthorised: { status: 401, body: { status: 2, message: 'Authentication failure' } },
  throttled: { status: 200, body: { status: 2, message: 'Too many requests' } },
  idOf: ({ id }) => id,
  conversions: {
    isAsked: ({ path }) => path.endsWith('/stats/conversions'),
    page({ query }, conversions) {
      const [page, size] = [Number(query.get('page') ?? 1), Math.min(500, Number(query.get('limit') ?? 100))];
      const asked = ofDays(conversions, query.get('date_from'), query.get('date_to'));
      return {
        status: 200,
        body: {
          status: 1,
          conversions: pageOf(asked, page, size).map(({ id, clickId, status, payout, at }) => ({
            id,
            created_at: at.slice(0, 19).replace('T', ' '),
            updated_at: at.slice(0, 19).replace('T', ' '),
            status: { approved: 'confirmed', pending: 'hold', rejected: 'declined' }[status],
            payouts: Number(payout),
            currency: 'usd',
            sub1: clickId,
            clickid: `theirs-${id}`,
          })),
          pagination: { per_page: size, total_count: asked.length, page },
        },
      };
    },
  },
  // `link` is /click?pid=…&offer_id=…; `sub1` comes back in stats/conversions (tests/AffiliateMethods of
  // github.com/affise/php-sdk).
  followed(asked) {
    if (asked.path !== '/click') return undefined;
    return { offerId: asked.query.get('offer_id') ?? '', clickId: carried(asked, 'sub1') };
  },
  page({ query }, offers, { address }) {
    const [page, size] = [Number(query.get('page') ?? 1), Math.min(500, Number(query.get('limit') ?? 100))];
    const isLast = page * size >= offers.length;
    return {
      status: 200,
      body: {
        status: 1,
        offers: pageOf(offers, page, size).map((offer) => affiseOffer(offer, address)),
        pagination: { per_page: size, total_count: offers.length, page, ...(isLast ? {} : { next_page: page + 1 }) },
      },
    };
  },
  firstPage: { parameter: 'page', value: '1' },
  lacks: { paused: true },
};

function affiseOffer(offer: SimulatedOffer, address: string) {
  const isOdd = Number(offer.id) % 2 === 1;
  const payment = {
    goal: '1',
    title: '',
    type: offer.pays === 'flat' ? 'fixed' : 'percent',
    currency: offer.currency.toLowerCase(),
  };
  return {
    id: isOdd ? Number(offer.id) : offer.id,
    offer_id: `o-${offer.id}`,
    title: offer.title,
    description_lang: { en: asHtml(offer.description), es: '' },
    logo: `https://images.example/${offer.id}.png`,
    preview_url: `https://preview.example/${offer.id}`,
    link: `${address}/click?pid=610&offer_id=${offer.id}`,
    // Two systems, of which the second pays more.
    payments: [
      { ...payment, revenue: Number(offer.payout), os: ['iOS'] },
      { ...payment, revenue: Number(offer.payout) + 1, os: ['Android'] },
    ],
    countries: isOdd ? offer.countries : [],
    targeting: isOdd
      ? []
      : [{ country: { allow: offer.countries, deny: [] }, os: { allow: [], deny: {} }, device_type: [] }],
    full_categories: offer.categories.map((title, index) => ({ id: String(index), title })),
    caps: offer.dailyCap === null ? [] : [{ period: 'day', type: 'conversions', value: offer.dailyCap }],
    sources: offer.forbidsIncentives ? [{ id: '5', title: 'Incentive traffic', allowed: 0 }] : ['Web'],
  };
}
