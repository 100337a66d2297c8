import { z } from 'zod';
import { deliveryStates } from '../../../kit/vocabulary/values.ts';
import { sitePostbacks, type SitePostback } from '../../../pipeline/records/site-postbacks.ts';
import { errorsBySecret, operation } from '../../endpoints/operation.ts';
import { ExactNumber } from '../../http/exact-json.ts';
import { choice, siteKey, siteSecret } from '../../http/parameters.ts';
import { momentOrNull, ofRecords, recordsPage } from './answer.ts';
import { postbackRecordsBody } from './bodies.ts';
import { PagedList } from './cursor.ts';
import { daySpan, paging, spanOf } from './parameters.ts';

const operationId = 'listPostbacks';

/** `GET /api/v1/postbacks`: what was sent to the site, each attempt, and why it failed, as the snapshot has it. */
export const postbackRecords = operation({
  path: '/c/api/v1/postbacks',
  operationId,
  summary: 'The site’s postbacks with their attempts',
  ...ofRecords,
  querystring: z.object({
    site_key: siteKey,
    site_secret: siteSecret,
    ...daySpan('written_at'),
    state: choice('state', 'Postbacks that stand so', deliveryStates).optional(),
    ...paging,
  }),
  body: postbackRecordsBody,
  errorKinds: [...errorsBySecret, 'wrong_date', 'wrong_parameter'],
  async respond({ site, parameters, snapshot }) {
    const filters = { ...spanOf(parameters), state: parameters.state };
    const { rows, pages } = await new PagedList(operationId, site.site_key, filters).page(
      parameters,
      snapshot.asOf,
      (asked) => sitePostbacks(snapshot.connections, site.site_key, filters, asked),
      ({ webhook_id }) => webhook_id,
    );
    return recordsPage(snapshot, { postbacks: rows.map(shown), ...pages });
  },
});

function shown({ webhook_id, kind, reward, kept_attempts, ...row }: SitePostback) {
  const { conversion_id, click_id, offer_id, user_id, state, attempts } = row;
  return {
    postback_id: webhook_id,
    event: kind,
    conversion_id,
    click_id,
    offer_id,
    user_id,
    reward: new ExactNumber(reward),
    occurred_at: momentOrNull(row.occurred_at),
    written_at: momentOrNull(row.enqueued_at),
    state,
    attempts,
    delivered_at: momentOrNull(row.delivered_at),
    next_attempt_at: momentOrNull(row.next_attempt_at),
    kept_attempts: kept_attempts.map(({ started_at, ...attempt }) => ({
      ...attempt,
      started_at: momentOrNull(started_at),
    })),
  };
}
