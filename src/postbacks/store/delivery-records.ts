import type { Moment } from '../../time/moment.ts';
import type { ConversionKind, DeliveryStatus } from '../../vocabulary/values.ts';

/** A postback as the warehouse's outbox holds it. Nothing of it changes after it was written. */
export interface OutboxRow {
  /** Its place in that outbox; later rows have greater ones. */
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
}

/** How far a postback has come. */
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

/** One request that was sent, or refused before it was. */
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
