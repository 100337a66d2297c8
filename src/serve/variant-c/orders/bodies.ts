import { z } from 'zod';
import { deliveryStates } from '../../../kit/vocabulary/values.ts';
import { int, momentSchema, success, version } from '../../http/body-schemas.ts';

/** `POST /api/v1/postbacks/<postback_id>/resend`. */
export const resendBody = z
  .strictObject({
    success,
    version,
    postback_id: z.string(),
    resent: z
      .boolean()
      .describe('False where the order changed nothing: the postback is due, on its way, or was tried since'),
    state: z.enum(deliveryStates),
    attempts: int.describe('Attempts so far'),
    next_attempt_at: momentSchema.nullable(),
    message: z.string().describe('What happens next, and where to see it'),
  })
  .meta({ id: 'Resend' });

/** `POST /api/v1/postbacks/test`. */
export const testBody = z
  .strictObject({
    success,
    version,
    postback_id: z.string().describe('The webhook-id of the request'),
    click_id: z.string().describe('That of no click: it begins with test-'),
    delivered: z.boolean().describe('Whether the address answered with a 2xx status'),
    host: z.string().describe('Where it was sent'),
    status: int.nullable().describe('HTTP status; null where no answer came'),
    error: z.string().nullable().describe('Why it failed, as a short code; null where it did not'),
    duration_ms: int,
    message: z.string().describe('What to do about it'),
  })
  .meta({ id: 'TestPostback' });
