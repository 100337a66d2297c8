import { z } from 'zod';
import { ApiError } from '../../../kit/http/errors.ts';
import { withOffset } from '../../../kit/time/iso-moment.ts';
import type { Resent } from '../../../postbacks/store/query-store.ts';
import { operation } from '../../endpoints/operation.ts';
import { integer, siteKey, siteSecret, text } from '../../http/parameters.ts';
import { noStoreResponse } from '../../http/response.ts';
import { momentOrNull } from '../records/answer.ts';
import { variantC } from '../variant.ts';
import { resendBody } from './bodies.ts';
import { carriedOut, ofOrders } from './order.ts';

/** `POST /api/v1/postbacks/<postback_id>/resend`: one of the site’s postbacks goes out again, delivered or not. */
export const resendOperation = operation({
  path: '/c/api/v1/postbacks/:postback_id/resend',
  operationId: 'resendPostback',
  summary: 'Sends one of the site’s postbacks again, delivered or not, under its webhook-id',
  ...ofOrders,
  status: 202,
  params: z.object({ postback_id: text('postback_id', 'postback_id of the list of postbacks: its webhook-id') }),
  querystring: z.object({
    site_key: siteKey,
    site_secret: siteSecret,
    attempts: integer(
      'attempts',
      'The postback’s attempts as you know them: where there were more since, nothing is sent. An order that names them may be repeated and is carried out once',
      undefined,
      0,
    ),
  }),
  body: resendBody,
  async respond({ site, parameters, snapshot, orders }) {
    const { postback_id: webhookId, attempts } = parameters;
    const resent = await carriedOut(orders.resend({ siteKey: site.site_key, webhookId, attempts }));
    if (resent === undefined) throw new ApiError('nothing_found', 'this site has no postback with this postback_id');
    const { postback, isNew } = resent;
    const document = {
      success: true,
      version: 'v1',
      postback_id: webhookId,
      resent: isNew,
      state: postback.state,
      attempts: postback.attempts,
      next_attempt_at: momentOrNull(postback.nextAttemptAt),
      message: messageOf(resent, site.postback !== undefined, attempts !== undefined),
    };
    return noStoreResponse(202, document, snapshot, variantC);
  },
});

const where = 'its attempts are in /api/v1/postbacks from the next snapshot on';

function messageOf(
  { postback: { state, attempts, lastAttemptAt }, isNew }: Resent,
  hasAddress: boolean,
  namesAttempts: boolean,
): string {
  if (!hasAddress && (state === 'pending' || state === 'delivering'))
    return `it waits: this site has no postback address now; ${where}`;
  if (state === 'delivering') return `it is on its way; ${where}`;
  if (state === 'pending' && !isNew && attempts > 0) return `it is planned already; ${where}`;
  const again = namesAttempts ? '' : `; to repeat this order without sending twice, name attempts=${attempts}`;
  if (state === 'pending') return `it is sent within a minute, after earlier events of its click; ${where}${again}`;
  const tried = lastAttemptAt === null ? '' : `, the last time at ${withOffset(lastAttemptAt)}`;
  return `nothing is sent: it was tried ${attempts} times${tried}, more often than this order knows; name that number of attempts to send it again`;
}
