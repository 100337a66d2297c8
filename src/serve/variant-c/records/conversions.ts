import { z } from 'zod';
import { conversionStatuses } from '../../../kit/vocabulary/values.ts';
import { parseIsoMoment, withOffset } from '../../../kit/time/iso-moment.ts';
import { siteConversions, type SiteConversion } from '../../../pipeline/records/site-conversions.ts';
import { errorsBySecret, operation } from '../../endpoints/operation.ts';
import { exactOrNull } from '../../http/exact-json.ts';
import { choice, siteKey, siteSecret, text } from '../../http/parameters.ts';
import { momentOrNull, ofRecords, recordsPage } from './answer.ts';
import { conversionRecordsBody } from './bodies.ts';
import { PagedList } from './cursor.ts';
import { changedSince, daySpan, ownerOf, paging, spanOf } from './parameters.ts';

const operationId = 'listConversions';

/** `GET /api/v1/conversions`: the site's conversions, one by one, with what was taken back and why. */
export const conversionRecords = operation({
  path: '/c/api/v1/conversions',
  operationId,
  summary: 'The site’s conversions, and which of them have changed',
  ...ofRecords,
  querystring: z.object({
    site_key: siteKey,
    site_secret: siteSecret,
    ...daySpan('occurred_at'),
    status: choice('status', 'Conversions that stand so', conversionStatuses).optional(),
    user_id: text('user_id', 'Conversions of this user').optional(),
    click_id: text('click_id', 'Conversions of this click').optional(),
    changed_since: changedSince.optional(),
    ...paging,
  }),
  body: conversionRecordsBody,
  errorKinds: [...errorsBySecret, 'wrong_date', 'wrong_parameter'],
  async respond({ site, parameters, snapshot, feed }) {
    const { status, user_id: userId, click_id: clickId, changed_since: changed } = parameters;
    const filters = {
      ...spanOf(parameters),
      status,
      userId,
      clickId,
      changedSince: changed === undefined ? undefined : parseIsoMoment(changed),
    };
    const owner = ownerOf({ site, feed });
    const { rows, pages, since } = await new PagedList(operationId, site.site_key, filters).page(
      parameters,
      snapshot.asOf,
      (asked) => siteConversions(snapshot.connections, owner, filters, asked),
      ({ conversion_id }) => conversion_id,
    );
    return recordsPage(snapshot, {
      conversions: rows.map(shown),
      ...pages,
      next_changed_since: withOffset(since),
    });
  },
});

function shown({ payout, reward, ...row }: SiteConversion) {
  const { conversion_id, click_id, offer_id, offer_title, event_id, user_id, sub1, sub2, status, reason } = row;
  return {
    conversion_id,
    click_id,
    offer_id,
    offer_title,
    event_id,
    user_id,
    sub1,
    sub2,
    status,
    payout: exactOrNull(payout),
    reward: exactOrNull(reward),
    clicked_at: momentOrNull(row.clicked_at),
    occurred_at: momentOrNull(row.occurred_at),
    credited_at: momentOrNull(row.credited_at),
    reversed_at: momentOrNull(row.reversed_at),
    reason,
    changed_at: momentOrNull(row.changed_at),
  };
}
