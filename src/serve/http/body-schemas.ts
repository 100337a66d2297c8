import { z } from 'zod';

/** Kinds of values that bodies of several operations have. */
export const int = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);
export const usd = z.number().min(0).describe('USD after the site’s commission, with up to 4 decimal places');
export const momentSchema = z.iso.datetime({ offset: true });
export const paymentTerm = z.enum(['net30', 'net60']);
export const device = z.enum(['android', 'ios', 'desktop']);
export const success = z.literal(true);
export const version = z.literal('v1');

/** Why a conversion was taken back, wherever conversions are listed. */
export const reversalReason = z
  .string()
  .nullable()
  .describe(
    'Why it was rejected or charged back, as the advertiser says; expired: it was announced, and nothing followed for 90 days',
  );

/** A milestone of a multireward offer, in every variant. */
export const milestone = z
  .strictObject({ offer_id: int, payout: usd, description: z.string() })
  .meta({ id: 'Milestone' });
