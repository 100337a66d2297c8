import { z } from 'zod';
import { parseIsoMoment, withOffset } from '../../../kit/time/iso-moment.ts';
import { siteConversions, type SiteConversion } from '../../../pipeline/records/site-conversions.ts';
import { hourlyRecords } from '../../access/limits.ts';
import { bySecret, errorsBySecret, operation, passingPage } from '../../endpoints/operation.ts';
import { cacheControl } from '../../http/caching.ts';
import { exactJson, exactOrNull } from '../../http/exact-json.ts';
import { choice, siteKey, siteSecret, text } from '../../http/parameters.ts';
import { pageBody } from '../../pages/prepared-page.ts';
import { variantC } from '../variant.ts';
import { conversionRecordsBody, conversionStatuses } from './bodies.ts';
import { PagedList } from './cursor.ts';
import { changedSince, daySpan, limitOrDefault, ownerOf, paging, spanOf } from './parameters.ts';

const operationId = 'listConversions';

/** `GET /api/v1/conversions`: the site's conversions, one by one, with what was taken back and why. */
export const conversionRecords = operation({
  path: '/c/api/v1/conversions',
  operationId,
  summary: 'The site’s conversions, and which of them have changed',
  variant: variantC,
  identify: bySecret,
  limit: hourlyRecords,
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
  cacheControl: cacheControl.page,
  errorKinds: [...errorsBySecret, 'wrong_date', 'wrong_parameter'],
  async respond({ site, parameters, snapshot, feed }) {
    const { cursor, status, user_id: userId, click_id: clickId, changed_since: since } = parameters;
    const filters = {
      ...spanOf(parameters),
      status,
      userId,
      clickId,
      changedSince: since === undefined ? undefined : parseIsoMoment(since),
    };
    const limit = limitOrDefault(parameters.limit);
    const list = new PagedList(operationId, site.site_key, filters);
    const place = list.placeOf(cursor, snapshot.asOf);
    const asked = { after: place.after, limit: limit + 1 };
    const found = await siteConversions(snapshot.connections, ownerOf({ site, feed }), filters, asked);
    const { rows, ...pages } = list.page(found, limit, place, ({ conversion_id }) => conversion_id);
    const body = exactJson({
      success: true,
      version: 'v1',
      as_of: withOffset(snapshot.asOf),
      conversions: rows.map(shown),
      ...pages,
      next_changed_since: withOffset(place.since),
    });
    return passingPage(variantC, snapshot, pageBody(Buffer.from(body)));
  },
});

function shown({ payout, reward, ...row }: SiteConversion) {
  const { conversion_id, click_id, offer_id, offer_title, event_id, user_id, sub1, sub2, status, reason } = row;
  const moment = (at: string | null) => (at === null ? null : withOffset(at));
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
    clicked_at: moment(row.clicked_at),
    occurred_at: moment(row.occurred_at),
    credited_at: moment(row.credited_at),
    reversed_at: moment(row.reversed_at),
    reason,
    changed_at: moment(row.changed_at),
  };
}
