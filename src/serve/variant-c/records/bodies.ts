import { z } from 'zod';
import { conversionKinds, conversionStatuses, deliveryStates } from '../../../kit/vocabulary/values.ts';
import { int, momentSchema, reversalReason, success, usd, version } from '../../http/body-schemas.ts';

const points = z.number().min(0).describe('In the site’s points, with up to 4 decimal places');
const asOf = momentSchema.describe('The figures are those known then: that of X-Data-As-Of');
const count = z.int().min(0);

const sums = {
  clicks: count.describe('Clicks on offers of the catalog'),
  conversions: count.describe('Conversions that are credited, by the day of their credit'),
  reversed: count.describe('Conversions that were charged back, by the day of their credit, else of the chargeback'),
  rejected: count.describe(
    'Conversions that were rejected, by the day of their credit, else of the rejection, or of the announcement that expired',
  ),
  earnings: usd.describe('USD for the credited conversions after the site’s commission, rounded by day to 4 places'),
  rewards: points.describe(
    'Points for the credited conversions: as their postbacks say, without one by the site’s terms of now',
  ),
};

/** `GET /api/v1/statement`. */
export const statementBody = z
  .strictObject({
    success,
    version,
    as_of: asOf,
    days: z
      .array(z.strictObject({ day: z.iso.date(), ...sums }).meta({ id: 'StatementDay' }))
      .describe('UTC days with a click or a conversion, ascending'),
    totals: z.strictObject(sums).describe('Sums of the days'),
  })
  .meta({ id: 'Statement' });

const pages = {
  has_more: z.boolean(),
  next_cursor: z.string().nullable().describe('The cursor of the next page; null on the last'),
};

const conversionRecord = z
  .strictObject({
    conversion_id: z.string(),
    click_id: z.string(),
    offer_id: int.nullable().describe('Null while the catalog does not know the offer'),
    offer_title: z.string().nullable(),
    event_id: z.string().nullable().describe('The milestone reached'),
    user_id: z.string(),
    sub1: z.string().nullable(),
    sub2: z.string().nullable(),
    status: z
      .enum(conversionStatuses)
      .describe(
        'pending: announced, and not decided; unattributed while its offer or milestone is unknown: both count nowhere',
      ),
    payout: usd.nullable().describe('USD after the site’s commission of now; null while unattributed'),
    reward: points
      .nullable()
      .describe('Points credited, refused or taken back, or of a pending one as it would be; null while unattributed'),
    clicked_at: momentSchema,
    occurred_at: momentSchema.describe(
      'The time of the credit, else of the rejection or chargeback, else of the announcement: its day in a statement',
    ),
    credited_at: momentSchema.nullable(),
    reversed_at: momentSchema.nullable(),
    reason: reversalReason,
    changed_at: momentSchema.describe(
      'When this row changed last; with the site’s commission or its points for one USD all rows do',
    ),
  })
  .meta({ id: 'ConversionRecord' });

/** `GET /api/v1/conversions`. */
export const conversionRecordsBody = z
  .strictObject({
    success,
    version,
    as_of: asOf,
    conversions: z.array(conversionRecord).describe('By conversion_id, ascending'),
    ...pages,
    next_changed_since: momentSchema.describe(
      'After the last page: the changed_since that finds all that changes from the first page on; a row may come twice',
    ),
  })
  .meta({ id: 'ConversionRecords' });

const attemptRecord = z
  .strictObject({
    attempt: int,
    started_at: momentSchema,
    duration_ms: int,
    status: int.nullable().describe('HTTP status; null where no answer came'),
    error: z.string().nullable().describe('Why it failed, as a short code; null where it did not'),
  })
  .meta({ id: 'AttemptRecord' });

const postbackRecord = z
  .strictObject({
    postback_id: z.string().describe('The webhook-id of its requests'),
    event: z.enum(conversionKinds),
    conversion_id: z.string(),
    click_id: z.string(),
    offer_id: int,
    user_id: z.string(),
    reward: points,
    occurred_at: momentSchema,
    written_at: momentSchema.describe('When it was decided that it is to be sent'),
    state: z.enum(deliveryStates),
    attempts: int,
    delivered_at: momentSchema.nullable(),
    next_attempt_at: momentSchema.nullable(),
    kept_attempts: z.array(attemptRecord).describe('Attempts that are still kept, the first one first'),
  })
  .meta({ id: 'PostbackRecord' });

/** `GET /api/v1/postbacks`. */
export const postbackRecordsBody = z
  .strictObject({
    success,
    version,
    as_of: asOf,
    postbacks: z.array(postbackRecord).describe('By postback_id, ascending'),
    ...pages,
  })
  .meta({ id: 'PostbackRecords' });
