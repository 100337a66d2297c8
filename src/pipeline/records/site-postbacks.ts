import { queryRows } from '../../kit/duckdb/dialect/rows.ts';
import type { Moment } from '../../kit/time/moment.ts';
import type { SnapshotConnections } from '../clicks/snapshot-connections.ts';
import { isInSpan, type RecordSpan } from './site-terms.ts';

/** A postback of a site, and its attempts as far as they are kept. */
export interface SitePostback {
  webhook_id: string;
  kind: string;
  conversion_id: string;
  click_id: string;
  offer_id: number;
  user_id: string;
  /** Points: decimal text with 4 places. */
  reward: string;
  occurred_at: Moment;
  enqueued_at: Moment;
  state: string;
  attempts: number;
  delivered_at: Moment | null;
  next_attempt_at: Moment | null;
  kept_attempts: SiteAttempt[];
}

export interface SiteAttempt {
  attempt: number;
  started_at: Moment;
  duration_ms: number;
  /** Null where no status line came. */
  status: number | null;
  error: string | null;
}

/**
 * Returns a site's postbacks by id, the first `limit` after `after`; `from` and `until` are of `enqueued_at`. Throws
 * `ApiError` where too many queries wait.
 */
export function sitePostbacks(
  connections: SnapshotConnections,
  siteKey: string,
  { state, ...span }: RecordSpan & { state?: string | undefined },
  { after, limit }: { after: string; limit: number },
): Promise<SitePostback[]> {
  const inState = state === undefined ? '' : 'AND state = $3';
  return connections.ask((connection) =>
    queryRows<SitePostback>(
      connection,
      `WITH page AS (
         SELECT * FROM postbacks WHERE site_key = $1 AND webhook_id > $2 AND ${isInSpan('enqueued_at', span)} ${inState}
         ORDER BY webhook_id LIMIT ${limit}),
       tried AS (
         SELECT webhook_id, list(struct_pack(attempt := attempt, started_at := started_at, duration_ms := duration_ms,
           status := status, error := error) ORDER BY attempt) AS kept_attempts
         FROM postback_attempts WHERE site_key = $1 AND webhook_id IN (SELECT webhook_id FROM page)
         GROUP BY webhook_id)
       SELECT page.webhook_id, kind, conversion_id, click_id, offer_id, user_id, reward, occurred_at, enqueued_at, state, attempts,
         delivered_at, next_attempt_at, coalesce(kept_attempts, []) AS kept_attempts
       FROM page LEFT JOIN tried ON tried.webhook_id = page.webhook_id ORDER BY page.webhook_id`,
      state === undefined ? [siteKey, after] : [siteKey, after, state],
    ),
  );
}
