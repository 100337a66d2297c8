/** A conversion of a network's list. Its status and amount may change until the next pull. */
export interface NetworkConversion {
  /** The network's own. */
  id: string;
  /** The id that the network will name it by in future, beside the present one. */
  laterId?: string | undefined;
  /** The sub id that our links carry; without one nobody can be credited. */
  clickId: string | undefined;
  status: 'approved' | 'pending' | 'rejected' | 'charged_back';
  /** The network's text; without an offset it is in the source's `time_zone`. */
  occurredAt: string;
  /** Last change of status or amount, where the network states it. */
  changedAt?: string | undefined;
  payout: string | undefined;
  currency: string | undefined;
  /** Milestone of the offer. */
  eventId?: string | undefined;
  /** Reason of a rejection. */
  reason?: string | undefined;
  /** Id that a conversion and its corrections share, where the network corrects by records of their own. */
  sharedId?: string | undefined;
  /** A correction: its amount, mostly below zero, is added to that of the conversion. */
  isCorrection?: boolean | undefined;
}

/** Why a record is no conversion that can be reported; such ones are counted. */
export type NoConversion =
  | 'unreadable'
  | 'passed_over'
  | 'unknown_status'
  | 'bad_time'
  | 'bad_payout'
  | 'correction'
  | 'corrects_unlisted'
  | 'secret_in_id';
