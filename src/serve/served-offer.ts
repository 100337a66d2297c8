import type { FeedOffer } from '../feed/feed-document.ts';
import { decimalOf } from './money.ts';
import type { Decimal } from './money.ts';
import { microsecondsOf, withOffset } from './moments.ts';
import type { Microseconds } from './moments.ts';
import { offerPartsB } from './variant-b/offer-parts.ts';
import type { OfferPartsB } from './variant-b/offer-parts.ts';
import { offerPartsC } from './variant-c/offer-parts.ts';
import type { OfferPartsC } from './variant-c/offer-parts.ts';
import { reportParts } from './variant-c/report-parts.ts';
import type { ReportParts } from './variant-c/report-parts.ts';

/** An active offer with all that can be made of it before it is known which site asks. */
export interface ServedOffer {
  id: number;
  /** Position among the snapshot's active offers: where a site's prices of it stand. */
  index: number;
  multireward: boolean;
  countries: readonly string[];
  devices: readonly string[];
  /** In lower case. */
  categories: readonly string[];
  formats: readonly string[];
  grossPayout: Decimal;
  grossEventPayouts: readonly Decimal[];
  grossEpc: Decimal;
  updatedAt: Microseconds;
  updatedAtText: string;
  trend: string;
  /** Among all active offers; null where it did not convert in the last 48 hours. */
  rank: number | null;
  b: OfferPartsB;
  c: OfferPartsC;
  report: ReportParts;
}

const zero: Decimal = { units: 0n, places: 0 };

export function serveOffer(offer: FeedOffer, index: number): ServedOffer {
  return {
    id: offer.id,
    index,
    multireward: offer.events.length > 0,
    countries: offer.countries,
    devices: offer.devices,
    categories: offer.categories.map((category) => category.toLowerCase()),
    formats: offer.formats,
    grossPayout: decimalOf(offer.payout),
    grossEventPayouts: offer.events.map((event) => decimalOf(event.payout)),
    grossEpc: offer.figures === null ? zero : decimalOf(offer.figures.epc),
    updatedAt: microsecondsOf(offer.updated_at),
    updatedAtText: withOffset(offer.updated_at),
    trend: offer.figures?.trend ?? 'stable',
    rank: offer.figures?.rank ?? null,
    b: offerPartsB(offer),
    c: offerPartsC(offer),
    report: reportParts(offer),
  };
}
