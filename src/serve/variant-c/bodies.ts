import { z } from 'zod';
import { device, int, milestone, momentSchema, paymentTerm, success, usd, version } from '../http/body-schemas.ts';

/** Variant A has the same fields. */
export const offerBodyC = z
  .strictObject({
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
    updated_at: momentSchema,
    created_at: momentSchema,
    events: z.array(milestone).min(1).optional().describe('Of multireward offers only'),
  })
  .meta({ id: 'OfferC' });

const removedOffer = z
  .strictObject({
    id: int,
    removed_at: momentSchema,
    reason: z.enum(['vanished', 'paused', 'capped', 'no_match']),
  })
  .meta({ id: 'RemovedOffer' });

/** `GET /api/v1/offers`. */
export const offersBodyC = z
  .strictObject({
    success,
    version,
    total: int.describe('Matching offers, before paging'),
    offset: int,
    limit: int,
    has_more: z.boolean(),
    offers: z.array(offerBodyC),
    removed: z
      .array(removedOffer)
      .optional()
      .describe('With include_removed=1 and updated_since: what left the list since then'),
  })
  .meta({ id: 'OfferListC' });

/** `GET /api/v1/status`. */
export const statusBody = z
  .strictObject({
    success,
    status: z.literal('operational'),
    version: z.literal('1.0'),
    data: z.strictObject({
      offers_available: int,
      multireward_available: int,
      site_status: z.literal('active'),
      rate_limit_per_hour: int,
    }),
    timestamp: momentSchema,
  })
  .meta({ id: 'Status' });

const localized = z.record(z.string(), z.string()).describe('Text by language code');

/** `GET /api/v1/reports`. */
export const reportsBody = z
  .strictObject({
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
  })
  .meta({ id: 'OfferReports' });
