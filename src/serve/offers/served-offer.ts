import type { FeedOffer } from '../../feed/feed-document.ts';
import { decimalOf } from './money.ts';
import type { Decimal } from './money.ts';
import { microsecondsOf, withOffset } from './moments.ts';
import type { Microseconds } from './moments.ts';

/** An active offer as far as answers depend on it beside its text: what it is found, priced and dated by. */
export interface ServedOffer {
  id: number;
  /** Position among the snapshot's active offers: where a site's prices of it stand. */
  index: number;
  /** Its place in the feed's file. */
  place: number;
  multireward: boolean;
  grossPayout: Decimal;
  grossEventPayouts: readonly Decimal[];
  grossEpc: Decimal;
  updatedAt: Microseconds;
  updatedAtText: string;
  trend: string;
  /** Among all active offers; null where it did not convert in the last 48 hours. */
  rank: number | null;
}

const zero: Decimal = { units: 0n, places: 0 };

export function serveOffer(offer: FeedOffer, index: number, place: number): ServedOffer {
  return {
    id: offer.id,
    index,
    place,
    multireward: offer.events.length > 0,
    grossPayout: decimalOf(offer.payout),
    grossEventPayouts: offer.events.map((event) => decimalOf(event.payout)),
    grossEpc: offer.figures === null ? zero : decimalOf(offer.figures.epc),
    updatedAt: microsecondsOf(offer.updated_at),
    updatedAtText: withOffset(offer.updated_at),
    trend: offer.figures?.trend ?? 'stable',
    rank: offer.figures?.rank ?? null,
  };
}
