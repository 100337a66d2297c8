import { claimedPostbackOf } from '../../postbacks/store/delivery-queue.ts';
import {
  deliveryStateOf,
  type DeliveryState,
  type OutboxRow,
  millisecondsOf,
  sortKeyOf,
} from '../../postbacks/store/delivery-rows.ts';
import type { ClaimedPostback, FinishedAttempt } from '../../postbacks/store/queue-store.ts';
import type { Moment } from '../../kit/time/moment.ts';
import type { PostgresRow } from './session.ts';

/**
 * PostgreSQL's texts cannot hold the character 0, which a user id may have: it is written as 1 and 1, and 1 as 1 and
 * 2, so that their order stays.
 */
export function storedText(text: string): string {
  return text.replaceAll('\u0001', '\u0001\u0002').replaceAll('\u0000', '\u0001\u0001');
}

export function textOf(stored: string): string {
  return stored.replaceAll('\u0001\u0001', '\u0000').replaceAll('\u0001\u0002', '\u0001');
}

export const newPostbackColumns = `webhook_id text, conversion_id text, kind text, click_id text, site_key text, user_id text,
  offer_id bigint, reward text, occurred_at text, enqueued_at text, further text, sort_key text, next_attempt_at bigint`;

/** A row of `newPostbackColumns`. */
export function newPostback(row: Omit<OutboxRow, 'number'>, nextAttemptAt: Moment) {
  return {
    webhook_id: row.webhookId,
    conversion_id: row.conversionId,
    kind: row.kind,
    click_id: row.clickId,
    site_key: row.siteKey,
    user_id: storedText(row.userId),
    offer_id: row.offerId,
    reward: row.reward,
    occurred_at: row.occurredAt,
    enqueued_at: row.enqueuedAt,
    further: row.further,
    sort_key: sortKeyOf(row.occurredAt, row.kind),
    next_attempt_at: millisecondsOf(nextAttemptAt),
  };
}

export const finishedColumns = `sequence bigint, state text, attempts int, plan_attempts int, started_at bigint, duration_ms int,
  status int, error text, host text, delivered_at bigint, next_attempt_at bigint, change bigint`;

/** A row of `finishedColumns`. Two changes follow each other: that of the postback, and its attempt. */
export function finishedRow(attempt: FinishedAttempt, change: number) {
  const { sequence, state, attempts, planAttempts, startedAt, outcome, nextAttemptAt } = attempt;
  const duration = Math.round(outcome.durationMilliseconds);
  return {
    sequence,
    state,
    attempts,
    plan_attempts: planAttempts,
    started_at: startedAt,
    duration_ms: duration,
    status: outcome.status,
    error: outcome.error,
    host: outcome.host,
    delivered_at: state === 'delivered' ? startedAt + duration : null,
    next_attempt_at: nextAttemptAt,
    change,
  };
}

export function stateOf(row: PostgresRow): DeliveryState {
  return deliveryStateOf({ ...row, user_id: textOf(row['user_id'] as string) });
}

export function claimedOf(row: PostgresRow): ClaimedPostback {
  return claimedPostbackOf({ ...row, user_id: textOf(row['user_id'] as string) });
}
