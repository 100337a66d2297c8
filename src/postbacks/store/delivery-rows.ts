import { dateOf, microsecondsOf, momentOf, momentOfMilliseconds, type Moment } from '../../kit/time/moment.ts';
import type { ConversionKind, DeliveryStatus } from '../../kit/vocabulary/values.ts';

/** A postback as the warehouse's outbox holds it. Nothing of it changes after it was written. */
export interface OutboxRow {
  /** Place in that outbox; later rows have greater ones. */
  number: number;
  webhookId: string;
  conversionId: string;
  kind: ConversionKind;
  clickId: string;
  siteKey: string;
  userId: string;
  offerId: number;
  /** In shortest decimal form. */
  reward: string;
  occurredAt: Moment;
  enqueuedAt: Moment;
  /** JSON object of the texts that a site may ask for beside the signed fields; null where nothing is known of them. */
  further: string | null;
}

/** State of a postback's delivery. */
export interface DeliveryState extends Omit<OutboxRow, 'number'> {
  state: DeliveryStatus;
  /** All that ended, those before a revival included. */
  attempts: number;
  lastAttemptAt: Moment | null;
  /** Null where no status line arrived. */
  lastStatus: number | null;
  lastError: string | null;
  deliveredAt: Moment | null;
  /** Null when nothing more will be tried. */
  nextAttemptAt: Moment | null;
}

/** A site with postbacks that failed and are tried again. Moments are milliseconds since the epoch. */
export interface FailingSite {
  siteKey: string;
  /** Number that is neither delivered nor dead, those that were not tried yet among them. */
  waiting: number;
  /** Moment at which the first of those that failed was written. */
  failingSince: number;
  /** Moment of the last delivery up to now among the newest thousand; null where there is none. */
  lastDeliveredAt: number | null;
  /** Error of the newest failed attempt at one that waits. */
  lastError: string;
  lastStatus: number | null;
}

export function failingSiteOf(row: Readonly<Record<string, unknown>>): FailingSite {
  return {
    siteKey: row['site_key'] as string,
    waiting: Number(row['waiting']),
    failingSince: dateOf(row['failing_since'] as Moment).getTime(),
    lastDeliveredAt: row['last_delivered_at'] === null ? null : Number(row['last_delivered_at']),
    lastError: row['last_error'] as string,
    lastStatus: row['last_status'] === null ? null : Number(row['last_status']),
  };
}

/** Request that was sent, or refused before it was. */
export interface AttemptRecord {
  webhookId: string;
  /** 1 is the first of this postback. */
  attempt: number;
  startedAt: Moment;
  durationMilliseconds: number;
  status: number | null;
  error: string | null;
  /** Host and port only. */
  host: string;
}

/** A row as SQLite gives it. */
export type Row = Record<string, unknown>;

export const stateColumns = `webhook_id, conversion_id, kind, click_id, site_key, user_id, offer_id, reward, occurred_at, enqueued_at, further,
  state, attempts, last_attempt_at, last_status, last_error, delivered_at, next_attempt_at`;

export function deliveryStateOf(row: Row): DeliveryState {
  return {
    webhookId: row['webhook_id'] as string,
    conversionId: row['conversion_id'] as string,
    kind: row['kind'] as ConversionKind,
    clickId: row['click_id'] as string,
    siteKey: row['site_key'] as string,
    userId: row['user_id'] as string,
    offerId: row['offer_id'] as number,
    reward: row['reward'] as string,
    occurredAt: row['occurred_at'] as Moment,
    enqueuedAt: row['enqueued_at'] as Moment,
    further: row['further'] as string | null,
    state: row['state'] as DeliveryStatus,
    attempts: row['attempts'] as number,
    lastAttemptAt: momentOrNull(row['last_attempt_at']),
    lastStatus: row['last_status'] as number | null,
    lastError: row['last_error'] as string | null,
    deliveredAt: momentOrNull(row['delivered_at']),
    nextAttemptAt: momentOrNull(row['next_attempt_at']),
  };
}

/** Columns of attempts joined with their postback's `webhook_id`. */
export function attemptRecordOf(row: Row): AttemptRecord {
  return {
    webhookId: row['webhook_id'] as string,
    attempt: row['attempt'] as number,
    startedAt: momentOfMilliseconds(row['started_at'] as number),
    durationMilliseconds: row['duration_ms'] as number,
    status: row['status'] as number | null,
    error: row['error'] as string | null,
    host: row['host'] as string,
  };
}

/** Texts that sort: a digit sorts after a hyphen. */
const rank: Record<ConversionKind, string> = { pending: '-', credit: '0', reject: '1', chargeback: '2' };

/** Text that sorts as a click's postbacks follow one another; the conversion's id comes after it. */
export function sortKeyOf(occurredAt: Moment, kind: ConversionKind): string {
  return `${sortableText(occurredAt)} ${rank[kind]}`;
}

/**
 * Always with six digits, so that the order of texts is that of moments. Sorts before every sort key of that moment.
 */
export function sortableText(moment: Moment): string {
  const text = momentOf(microsecondsOf(moment) ?? 0n);
  return text.includes('.') ? text : `${text.slice(0, 19)}.000000Z`;
}

/** Postbacks that are neither delivered nor given up. */
export interface Backlog {
  postbacks: number;
  /** Time of the earliest of their events, in milliseconds since the epoch; null without any. */
  oldestOccurredAt: number | null;
}

/** Columns `postbacks`, and `oldest` for the smallest sort key. */
export function backlogOf({ postbacks, oldest }: Row): Backlog {
  const [moment] = (oldest as string | null)?.split(' ') ?? [];
  return { postbacks: postbacks as number, oldestOccurredAt: moment === undefined ? null : millisecondsOf(moment) };
}

export function millisecondsOf(moment: Moment): number {
  return dateOf(moment).getTime();
}

function momentOrNull(milliseconds: unknown): Moment | null {
  return milliseconds === null ? null : momentOfMilliseconds(milliseconds as number);
}
