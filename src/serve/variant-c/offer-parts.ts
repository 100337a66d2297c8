import { servedText } from '../../feed/feed-document.ts';
import type { FeedOffer } from '../../feed/feed-document.ts';
import { members } from '../pages/json-text.ts';
import { pathBeforeUser, percentEncoded } from '../offers/links.ts';
import { milestonePieces } from '../pages/milestones.ts';
import { withOffset } from '../offers/moments.ts';

/** A Variant C offer's JSON, cut where something of the site or of the service's addresses comes in. */
export interface OfferPartsC {
  beforeImage: string;
  /** Percent-encoded file name; empty where the offer has no picture. */
  image: string;
  beforeLink: string;
  beforeUser: string;
  afterUpdatedAt: string;
  /** Cut at each payout. */
  events: string[];
}

export function offerPartsC(offer: FeedOffer): OfferPartsC {
  const { id, level, stars, categories, countries, devices, payment_term, android_min_os, ios_min_os } = offer;
  const terms = {
    currency: 'USD',
    level,
    stars,
    categories,
    countries,
    devices,
    payment_term,
    android_min_os,
    ios_min_os,
  };
  return {
    beforeImage: `{${members({ id, title: servedText(offer.titles), description: servedText(offer.descriptions) })},"image":"`,
    image: percentEncoded(offer.image_name),
    beforeLink: `,${members(terms)},"tracking_url":"`,
    beforeUser: pathBeforeUser(id),
    afterUpdatedAt: `",${members({ created_at: withOffset(offer.created_at) })}`,
    events: milestonePieces(offer),
  };
}
