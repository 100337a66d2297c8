import { z } from 'zod';

const int = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);
const usd = z.number().min(0).describe('USD after the site’s commission, with up to 4 decimal places');
const momentText = z.iso.datetime({ offset: true });
const paymentTerm = z.enum(['net30', 'net60']);
const device = z.enum(['android', 'ios', 'desktop']);

/** A milestone of a multireward offer, in every variant. */
const event = z.strictObject({ offer_id: int, payout: usd, description: z.string() });

const offerB = z.strictObject({
  id: int,
  type: z.enum(['offer', 'multireward']),
  level: z.string(),
  stars: int.max(5),
  title: z.string(),
  description: z.string(),
  image: z
    .string()
    .describe('File name; its address is {base_url}/asset/images/offers/<image>. Empty without a picture'),
  payout: usd,
  categories: z.array(z.string()).min(1).nullable(),
  countries: z.array(z.string()).min(1).describe('English names in lower case, or "All"'),
  devices: z.array(z.enum(['All', 'android', 'ios', 'PC'])).min(1),
  payment_term: paymentTerm,
  android_min_os: z.string().nullable(),
  ios_min_os: z.string().nullable(),
  url: z.string().describe('Tracking link; {user_id} is to be replaced with the user’s id'),
  events: z.array(event).min(1).optional().describe('Of multireward offers only'),
});

const offerC = z.strictObject({
  id: int,
  title: z.string(),
  description: z.string(),
  image: z.string().describe('Whole address; empty without a picture'),
  payout: usd,
  currency: z.literal('USD'),
  level: z.string(),
  stars: int.max(5),
  categories: z.array(z.string()),
  countries: z.array(z.string().length(2)).describe('ISO 3166-1 alpha-2; empty means worldwide'),
  devices: z.array(device).describe('Empty means all'),
  payment_term: paymentTerm,
  android_min_os: z.string().nullable(),
  ios_min_os: z.string().nullable(),
  tracking_url: z.string().describe('Tracking link; {user_id} is to be replaced with the user’s id'),
  updated_at: momentText,
  created_at: momentText,
  events: z.array(event).min(1).optional().describe('Of multireward offers only'),
});

const success = z.literal(true);
const version = z.literal('v1');

/** `GET /api/v1/offers` of Variant B. */
export const offersB = z.strictObject({ success, version, offers: z.strictObject({ data: z.array(offerB) }) });

/** `GET /api/v1/offers/top-converting`. */
export const topConverting = z.strictObject({
  success,
  version,
  total: int,
  window: z.strictObject({ yesterday: z.iso.date(), today: z.iso.date() }),
  offers: z.array(
    z.strictObject({
      ...offerB.shape,
      trend: z.enum(['up', 'down', 'stable']).describe('Conversions of the last 24 hours against the 24 before'),
      rank: int.min(1).describe('1 is hottest, among the type asked for'),
    }),
  ),
});

const removedOffer = z.strictObject({
  id: int,
  removed_at: momentText,
  reason: z.enum(['vanished', 'paused', 'no_match']),
});

/** `GET /api/v1/offers` of Variant C. */
export const offersC = z.strictObject({
  success,
  version,
  total: int.describe('Matching offers, before paging'),
  offset: int,
  limit: int,
  has_more: z.boolean(),
  offers: z.array(offerC),
  removed: z
    .array(removedOffer)
    .optional()
    .describe('With include_removed=1 and updated_since: what left the list since then'),
});

/** `GET /api/v1/status`. */
export const status = z.strictObject({
  success,
  status: z.literal('operational'),
  version: z.literal('1.0'),
  data: z.strictObject({
    offers_available: int,
    multireward_available: int,
    site_status: z.literal('active'),
    rate_limit_per_hour: int,
  }),
  timestamp: momentText,
});

const localized = z.record(z.string(), z.string()).describe('Text by language code');

/** `GET /api/v1/reports`. */
export const reports = z.strictObject({
  success,
  offers: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      description: localized,
      payout: usd,
      events: z.array(z.strictObject({ eventId: z.string(), action: localized, payout: usd })),
      multiEvent: z.boolean(),
      multiComplete: z.boolean(),
      trackingType: z.enum(['CPI', 'CPE', 'CPA', 'CPL']),
      previewUrl: z.string().nullable(),
      icon: z.string(),
      category: z.enum(['app', 'web', 'survey', 'game']),
      country: z.array(z.string().length(2)),
      url: z.string().describe('Tracking link; [USER_ID] is to be replaced with the user’s id'),
      device: z.array(z.enum(['android', 'ios', 'pc'])),
      dailyCap: int.nullable().describe('Null means unlimited'),
      dailyClickCap: int.nullable().describe('Null means unlimited'),
      epc: usd,
      cvr: z.number().min(0).describe('A ratio, not a percentage; may exceed 1'),
    }),
  ),
});

/** `GET /api/offers` of Variant A. */
export const offersA = z.strictObject({
  success,
  site_key: z.string(),
  user_id: z.string(),
  format: z.enum(['offerwall', 'banners', 'surveys', 'PTC']),
  total: int,
  offers: z.array(z.strictObject({ ...offerC.shape, tracking_url: z.string().describe('Tracking link of the user') })),
});

/** `GET /api/click-lookup`. */
export const clickLookup = z.strictObject({
  success,
  click: z.strictObject({
    click_id: z.string(),
    offer_id: int.nullable().describe('Null while the catalog does not know the offer'),
    offer_title: z.string().nullable(),
    user_id: z.string(),
    site_key: z.string(),
    clicked_at: momentText,
    country: z.string().length(2).nullable(),
    device: device.nullable(),
    sub1: z.string().nullable(),
    sub2: z.string().nullable(),
  }),
  conversions: z.array(
    z.strictObject({
      conversion_id: z.string(),
      event_id: z.string().nullable(),
      status: z.enum(['credited', 'rejected', 'charged_back', 'unattributed']),
      payout: usd.nullable(),
      credited_at: momentText.nullable(),
      reversed_at: momentText.nullable(),
    }),
  ),
  postbacks: z.array(
    z.strictObject({
      event: z.enum(['credit', 'reject', 'chargeback']),
      reward: z.number().min(0),
      state: z.enum(['pending', 'delivering', 'delivered', 'dead']),
      attempts: int,
      last_attempt_at: momentText.nullable(),
      last_status: int.nullable(),
    }),
  ),
});

/** Bodies of errors by variant. */
export const errors = {
  A: z.strictObject({ title: z.string(), status: int, detail: z.string() }),
  B: z.strictObject({ error: z.string(), message: z.string() }),
  C: z.strictObject({ success: z.literal(false), error: z.strictObject({ code: z.string(), message: z.string() }) }),
};
