import { asEntities, followedBy, type Dialect } from './dialect.ts';
import type { SimulatedOffer } from './offers.ts';

/** Lootably: one page, keys in the body, `*` for everywhere. Shape: github.com/lootably/lootably-offers-api-types. */
export const lootablyDialect: Dialect = {
  secrets: (key) => ({ api_key: key, placement_id: 'cl1' }),
  idOf: ({ id }) => id,
  isAuthorised: ({ json }, key) => json['apiKey'] === key && json['placementID'] === 'cl1',
  unauthorised: { status: 200, body: { success: false, message: 'Invalid API key', data: { requestID: 'r' } } },
  throttled: { status: 429, body: { success: false, message: 'Too many requests', data: { requestID: 'r' } } },
  // documentation.lootably.com/docs/postbacks
  postbackMacros: ({ id, clickId, payout }) => ({
    userID: clickId ?? '',
    transactionID: id,
    goalID: '',
    revenue: payout,
    status: '1',
  }),
  followed: followedBy('sid'),
  page(_asked, offers, { address }) {
    const listed = offers.map((offer) => lootablyOffer(offer, address));
    return { status: 200, body: { success: true, data: { requestID: 'r', offers: listed } } };
  },
  lacks: { currency: true, cap: true, paused: true, incentives: true },
  isSinglePage: true,
};

function lootablyOffer(offer: SimulatedOffer, address: string) {
  const common = {
    offerID: offer.id,
    name: asEntities(offer.title),
    description: asEntities(offer.description),
    image: `https://images.example/${offer.id}.png`,
    countries: offer.countries.length === 0 ? ['*'] : offer.countries,
    categories: offer.categories,
    devices: ['*'],
    link: `${address}/follow/${offer.id}?sid={userID}`,
    conversionRate: 0.1,
    extraCreatives: [],
  };
  if (Number(offer.id) % 3 !== 0 || offer.pays === 'share')
    return {
      ...common,
      type: 'singlestep',
      revenue: offer.pays === 'flat' ? Number(offer.payout) : 'variable',
      currencyReward: offer.pays === 'flat' ? 100 : 'variable',
      multipleConversionsAllowed: false,
    };
  const goal = { currencyReward: 1, isOptional: false };
  return {
    ...common,
    type: 'multistep',
    goals: [
      { ...goal, goalID: `${offer.id}-a`, description: 'Install', revenue: 0 },
      { ...goal, goalID: `${offer.id}-b`, description: 'Reach level 5', revenue: Number(offer.payout) },
    ],
  };
}
