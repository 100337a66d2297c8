import { asHtml, carried, ofDays, type Dialect, type NetworkAnswer } from './dialect.ts';
import type { SimulatedOffer } from './offers.ts';

/** CAKE: rows from 1, the key in the query, `row_count` of the list, 250 rows at most. */
export const cakeDialect: Dialect = {
  secrets: (key) => ({ api_key: key, affiliate_id: '77' }),
  isAuthorised: ({ query }, key) => query.get('api_key') === key && query.has('affiliate_id'),
  unauthorised: { status: 200, body: { success: false, message: 'invalid api_key', row_count: 0, data: [] } },
  // A link is asked for by campaign, as XML, and only one that was joined has any: offers.asmx/GetCampaign of
  // npmjs.com/package/cake-affiliate-api. Its `s1` comes back as subid_1.
  followed(asked) {
    const offerId = asked.path === '/' ? asked.query.get('c') : null;
    return offerId === null ? undefined : { offerId, clickId: carried(asked, 's1') };
  },
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
  page({ path, query }, offers, { address }) {
    if (path.endsWith('/offers.asmx/GetCampaign')) return campaignAnswer(query.get('campaign_id') ?? '', address);
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
  isAskedByOffer: true,
  lacks: { currency: true, cap: true },
};

/** Each campaign has the number of its offer, a link and a banner. */
function campaignAnswer(campaign: string, address: string): NetworkAnswer {
  const creative = (id: string, type: number, link: string) =>
    `<creative_info><creative_id>${id}</creative_id><creative_type><type_id>${type}</type_id></creative_type><unique_link>${link}</unique_link></creative_info>`;
  const links = [
    creative(`${campaign}9`, 3, `${address}/banner`),
    creative(campaign, 1, `${address}/?a=77&amp;c=${campaign}&amp;s1=`),
  ];
  const body = `<?xml version="1.0" encoding="utf-8"?>
<campaign_response xmlns="http://cakemarketing.com/affiliates/api/2/">
  <success>true</success><message />
  <campaign><campaign_id>${campaign}</campaign_id><creatives>${links.join('')}</creatives></campaign>
</campaign_response>`;
  return { status: 200, body, headers: { 'content-type': 'text/xml; charset=utf-8' } };
}

function cakeOffer(offer: SimulatedOffer) {
  return {
    offer_id: Number(offer.id),
    offer_contract_id: Number(offer.id) * 3,
    // An offer that has not been joined has no campaign.
    campaign_id: offer.isActive ? Number(offer.id) : null,
    offer_name: offer.title,
    description: asHtml(offer.description),
    restrictions: '',
    vertical_name: offer.categories[0],
    // An object; older versions name its members status_id and status_name (offers.asmx/GetOfferStatuses).
    offer_status: statusOf(offer),
    price_format: offer.pays === 'flat' ? 'CPA' : 'RevShare',
    price: Number(offer.payout),
    currency_symbol: '$',
    allowed_countries: offer.countries.map((country_code) => ({ country_code, country_name: `The ${country_code}` })),
    thumbnail_image_url: `https://images.example/${offer.id}.png`,
    preview_link: '',
    date_created: '03/29/2026 02:30:00',
  };
}

function statusOf({ id, isActive }: SimulatedOffer) {
  const [number, name] = isActive ? [3, 'Active'] : [1, 'Apply To Run'];
  return Number(id) % 2 === 0
    ? { offer_status_id: number, offer_status_name: name }
    : { status_id: number, status_name: name };
}
