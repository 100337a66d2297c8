import { z } from 'zod';
import { conversionKinds, conversionStatuses, deliveryStates, formats } from '../../kit/vocabulary/values.ts';
import { device, int, momentSchema, reversalReason, success, usd } from '../http/body-schemas.ts';
import { offerBodyC } from '../variant-c/bodies.ts';

/** `GET /api/offers`. */
export const offersBodyA = z
  .strictObject({
    success,
    site_key: z.string(),
    user_id: z.string(),
    format: z.enum(formats),
    total: int,
    offers: z.array(
      z.strictObject({ ...offerBodyC.shape, tracking_url: z.string().describe('Tracking link of the user') }),
    ),
  })
  .meta({ id: 'OfferListA' });

/** `GET /api/click-lookup`. */
export const clickLookupBody = z
  .strictObject({
    success,
    click: z.strictObject({
      click_id: z.string(),
      offer_id: int
        .nullable()
        .describe('Null while the catalog does not know the offer, where the click names it by its source’s own id'),
      offer_title: z.string().nullable(),
      user_id: z.string(),
      site_key: z.string(),
      clicked_at: momentSchema,
      country: z.string().length(2).nullable(),
      device: device.nullable(),
      sub1: z.string().nullable(),
      sub2: z.string().nullable(),
    }),
    conversions: z.array(
      z.strictObject({
        conversion_id: z.string(),
        event_id: z.string().nullable(),
        status: z.enum(conversionStatuses),
        payout: usd.nullable().describe('USD after the site’s commission; null while unattributed'),
        credited_at: momentSchema.nullable(),
        reversed_at: momentSchema.nullable(),
        reason: reversalReason,
      }),
    ),
    postbacks: z.array(
      z.strictObject({
        event: z.enum(conversionKinds),
        reward: z.number().min(0),
        state: z.enum(deliveryStates),
        attempts: int,
        last_attempt_at: momentSchema.nullable(),
        last_status: int.nullable(),
      }),
    ),
  })
  .meta({ id: 'FoundClick' });
