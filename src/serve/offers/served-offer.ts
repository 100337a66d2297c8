import type { FeedOffer } from '../../pipeline/feed/feed-document.ts';
import { decimalOf } from '../../kit/text/decimal-text.ts';
import type { Decimal } from '../../kit/text/decimal-text.ts';
import { microsecondsNumber, withOffset } from '../../kit/time/iso-moment.ts';
import type { Microseconds } from '../../kit/time/iso-moment.ts';

/** An active offer as far as answers depend on it beside its text: what it is found, priced and dated by. */
export interface ServedOffer {
  id: number;
  source: string;
  /** Place among the snapshot's active offers, by which sets, prices and templates know it. */
  index: number;
  /** Line in the feed's file. */
  line: number;
  multireward: boolean;
  grossPayout: Decimal;
  grossEventPayouts: readonly Decimal[];
  grossEpc: Decimal;
  updatedAt: Microseconds;
  updatedAtText: string;
  /** Among all active offers; null where it did not convert in the last 48 hours. */
  rank: number | null;
}

const zero: Decimal = { units: 0n, places: 0 };

export function serveOffer(offer: FeedOffer, index: number, line: number): ServedOffer {
  return {
    id: offer.id,
    source: offer.source,
    index,
    line,
    multireward: offer.events.length > 0,
    grossPayout: decimalOf(offer.payout),
    grossEventPayouts: offer.events.map((event) => decimalOf(event.payout)),
    grossEpc: offer.figures === null ? zero : decimalOf(offer.figures.epc),
    updatedAt: microsecondsNumber(offer.updated_at),
    updatedAtText: withOffset(offer.updated_at),
    rank: offer.figures?.rank ?? null,
  };
}
