import { z } from 'zod';
import { deliveryStates } from '../../../kit/vocabulary/values.ts';
import { withOffset } from '../../../kit/time/iso-moment.ts';
import { sitePostbacks, type SitePostback } from '../../../pipeline/records/site-postbacks.ts';
import { hourlyRecords } from '../../access/limits.ts';
import { bySecret, errorsBySecret, operation, passingPage } from '../../endpoints/operation.ts';
import { cacheControl } from '../../http/caching.ts';
import { exactJson, ExactNumber } from '../../http/exact-json.ts';
import { choice, siteKey, siteSecret } from '../../http/parameters.ts';
import { pageBody } from '../../pages/prepared-page.ts';
import { variantC } from '../variant.ts';
import { postbackRecordsBody } from './bodies.ts';
import { PagedList } from './cursor.ts';
import { daySpan, limitOrDefault, paging, spanOf } from './parameters.ts';

const operationId = 'listPostbacks';

/** `GET /api/v1/postbacks`: what was sent to the site, each attempt, and why it failed, as the snapshot has it. */
export const postbackRecords = operation({
  path: '/c/api/v1/postbacks',
  operationId,
  summary: 'The site’s postbacks with their attempts',
  variant: variantC,
  identify: bySecret,
  limit: hourlyRecords,
  querystring: z.object({
    site_key: siteKey,
    site_secret: siteSecret,
    ...daySpan('written_at'),
    state: choice('state', 'Postbacks that stand so', deliveryStates).optional(),
    ...paging,
  }),
  body: postbackRecordsBody,
  cacheControl: cacheControl.page,
  errorKinds: [...errorsBySecret, 'wrong_date', 'wrong_parameter'],
  async respond({ site, parameters, snapshot }) {
    const filters = { ...spanOf(parameters), state: parameters.state };
    const limit = limitOrDefault(parameters.limit);
    const list = new PagedList(operationId, site.site_key, filters);
    const place = list.placeOf(parameters.cursor, snapshot.asOf);
    const asked = { after: place.after, limit: limit + 1 };
    const found = await sitePostbacks(snapshot.connections, site.site_key, filters, asked);
    const { rows, ...pages } = list.page(found, limit, place, ({ webhook_id }) => webhook_id);
    const body = exactJson({
      success: true,
      version: 'v1',
      as_of: withOffset(snapshot.asOf),
      postbacks: rows.map(shown),
      ...pages,
    });
    return passingPage(variantC, snapshot, pageBody(Buffer.from(body)));
  },
});

function shown({ webhook_id, kind, reward, kept_attempts, ...row }: SitePostback) {
  const { conversion_id, click_id, offer_id, user_id, state, attempts } = row;
  const moment = (at: string | null) => (at === null ? null : withOffset(at));
  return {
    postback_id: webhook_id,
    event: kind,
    conversion_id,
    click_id,
    offer_id,
    user_id,
    reward: new ExactNumber(reward),
    occurred_at: moment(row.occurred_at),
    written_at: moment(row.enqueued_at),
    state,
    attempts,
    delivered_at: moment(row.delivered_at),
    next_attempt_at: moment(row.next_attempt_at),
    kept_attempts: kept_attempts.map(({ started_at, ...attempt }) => ({ ...attempt, started_at: moment(started_at) })),
  };
}
