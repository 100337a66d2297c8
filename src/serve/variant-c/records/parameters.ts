import { rewardRateText } from '../../../kit/sites/sites.ts';
import type { Site } from '../../../kit/sites/sites.ts';
import { isoDayPattern, isoMomentPattern, parseIsoMoment } from '../../../kit/time/iso-moment.ts';
import type { RecordOwner, RecordSpan } from '../../../pipeline/records/site-terms.ts';
import { integer, pattern } from '../../http/parameters.ts';
import type { SiteFeed } from '../../offers/site-feed.ts';

const dayMicroseconds = 86_400_000_000;
/** Rows of a page. */
export const defaultLimit = 500;
const maxLimit = 2000;

function day(name: string, description: string) {
  return pattern(name, description, isoDayPattern, `${name} must be a day such as 2026-11-20`).optional();
}

/** Bounds of days, both included; `of` says of what. */
export function daySpan(of: string) {
  return { from: day('from', `First UTC day of ${of}`), to: day('to', `Last UTC day of ${of}`) };
}

/** Returns the moments between which days lie; nothing where the first day is after the last. */
export function spanOf({ from, to }: { from?: string | undefined; to?: string | undefined }): RecordSpan {
  const last = to === undefined ? undefined : parseIsoMoment(to);
  return {
    from: from === undefined ? undefined : parseIsoMoment(from),
    until: last === undefined ? undefined : last + dayMicroseconds,
  };
}

export function ownerOf({ site, feed }: { site: Site; feed: SiteFeed }): RecordOwner {
  return { siteKey: site.site_key, commission: feed.shared.terms.commission, rewardRate: rewardRateText(site) };
}

export const changedSince = pattern(
  'changed_since',
  'ISO 8601 date or date-time, UTC without an offset: what changed then or later; take it from next_changed_since of the walk before',
  isoMomentPattern,
  'changed_since must be an ISO 8601 date or date-time such as 2026-11-20T08:00:00Z',
);

export const paging = {
  limit: integer('limit', 'Most rows to return', defaultLimit, 1, maxLimit),
  cursor: pattern(
    'cursor',
    'next_cursor of the page before, with the same other parameters; limit may change',
    '^[A-Za-z0-9_-]{1,4000}$',
    'cursor must be the next_cursor of the page before',
  ).optional(),
};
