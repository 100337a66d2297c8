import { servedText } from '../../feed/feed-document.ts';
import type { FeedOffer } from '../../feed/feed-document.ts';
import { members } from '../pages/json-text.ts';
import { trackingPath } from '../offers/links.ts';
import { milestonePieces } from '../pages/milestones.ts';

/** A Variant B offer's JSON, cut where something of the site comes in. */
export interface OfferPartsB {
  beforePayout: string;
  beforeLink: string;
  link: string;
  /** Cut at each payout. */
  events: string[];
}

export function offerPartsB(offer: FeedOffer): OfferPartsB {
  const { id, level, stars, payment_term, android_min_os, ios_min_os } = offer;
  const type = offer.events.length > 0 ? 'multireward' : 'offer';
  const described = {
    title: servedText(offer.titles),
    description: servedText(offer.descriptions),
    image: offer.image_name,
  };
  const terms = {
    categories: offer.categories.length === 0 ? null : offer.categories,
    countries: offer.countries.length === 0 ? ['All'] : offer.countries.map(countryName),
    devices:
      offer.devices.length === 0 ? ['All'] : offer.devices.map((device) => (device === 'desktop' ? 'PC' : device)),
    payment_term,
    android_min_os,
    ios_min_os,
  };
  return {
    beforePayout: `{${members({ id, type, level, stars, ...described })},"payout":`,
    beforeLink: `,${members(terms)},"url":"`,
    link: trackingPath(id, '{user_id}'),
    events: milestonePieces(offer),
  };
}

const englishNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

const knownNames = new Map<string, string>();

/** The CLDR English name in lower case; a code that has none stays a code. */
function countryName(code: string): string {
  let name = knownNames.get(code);
  if (name === undefined) {
    name = (englishNames.of(code) ?? code).toLowerCase();
    knownNames.set(code, name);
  }
  return name;
}
