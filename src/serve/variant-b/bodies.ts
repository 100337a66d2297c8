import { z } from 'zod';
import { int, milestone, paymentTerm, success, usd, version } from '../http/body-schemas.ts';

const offerBodyB = z
  .strictObject({
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
    events: z.array(milestone).min(1).optional().describe('Of multireward offers only'),
  })
  .meta({ id: 'OfferB' });

/** `GET /api/v1/offers`. */
export const offersBodyB = z
  .strictObject({ success, version, offers: z.strictObject({ data: z.array(offerBodyB) }) })
  .meta({ id: 'OfferListB' });

/** `GET /api/v1/offers/top-converting`. */
export const topConvertingBody = z
  .strictObject({
    success,
    version,
    total: int,
    window: z.strictObject({ yesterday: z.iso.date(), today: z.iso.date() }),
    offers: z.array(
      z.strictObject({
        ...offerBodyB.shape,
        trend: z.enum(['up', 'down', 'stable']).describe('Conversions of the last 24 hours against the 24 before'),
        rank: int.min(1).describe('1 is hottest, among the type asked for'),
      }),
    ),
  })
  .meta({ id: 'TopConvertingOffers' });
