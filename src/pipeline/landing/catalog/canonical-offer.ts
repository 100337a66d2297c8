import type { Moment } from '../../../kit/time/moment.ts';
import type { OfferContent, OfferEvent } from '../../../kit/vocabulary/offer-fields.ts';
import type { OfferStatus } from '../../../kit/vocabulary/values.ts';

/** One offer of one source after normalisation: all that the warehouse keeps of a catalog record. */
export interface CanonicalOffer extends OfferContent {
  external_id: string;
  /** The public id that the record itself brings, if any. */
  id: number | null;
  status: OfferStatus;
  /** Milestones in the source's order; empty for a single-reward offer. */
  events: OfferEvent[];
  /** The source's own dates, if it gives any. */
  created_at: Moment | null;
  updated_at: Moment | null;
}
