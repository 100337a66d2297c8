import type { DeliveryState } from '../../postbacks/store/delivery-rows.ts';
import type { DeliveryStatus } from '../../kit/vocabulary/values.ts';
import type { OfferFigures, PublishedConversion } from './published-trial.ts';

/** A step of a trial, reported when it is over. */
export interface TrialStep {
  step: string;
  /** Or there was nothing to do. */
  done: boolean;
  text: string;
}

/** State of the credit's postback, with the names of the analysts' tables. */
export interface TriedPostback {
  webhook_id: string;
  reward: string;
  state: DeliveryStatus;
  attempts: number;
  last_status: number | null;
  last_error: string | null;
}

export function triedPostback(postback: DeliveryState): TriedPostback {
  const { webhookId, reward, state, attempts, lastStatus, lastError } = postback;
  return { webhook_id: webhookId, reward, state, attempts, last_status: lastStatus, last_error: lastError };
}

/** All that a trial saw. */
export interface TrialReport {
  offer_id: number;
  site_key: string;
  user_id: string;
  tracker: { address: string; own: boolean };
  link: string;
  /** Request that the advertiser would have got. */
  destination: { host: string; target: string };
  /** The row of the click's log. */
  click: Record<string, unknown>;
  /** Null where none was reported. */
  conversion: { conversion_id: string; answer: string; row: Record<string, unknown> } | null;
  published: PublishedConversion | null;
  figures: { before: OfferFigures; after: OfferFigures } | null;
  postback: TriedPostback | null;
  /** Answer to the reject. */
  taken_back: string | null;
}
