import { servedText } from '../../pipeline/feed/feed-document.ts';
import type { FeedOffer } from '../../pipeline/feed/feed-document.ts';
import { trackingPath } from '../offers/links.ts';
import type { Links } from '../offers/links.ts';
import { milestoneMember } from '../pages/milestones.ts';
import { members } from '../pages/offer-templates.ts';
import type { Template, TemplatePart } from '../pages/offer-templates.ts';

/** Offers of Variant B. `link` is the site's key. */
export const templateB: Template = {
  name: 'b',
  compile: (offer, links) => [...openOffer(offer, links), '}'],
};

/** The same with trend and rank. */
export const topConvertingTemplate: Template = {
  name: 'top-converting',
  compile: (offer, links) => [
    ...openOffer(offer, links),
    `,"trend":"${offer.figures?.trend ?? 'stable'}","rank":`,
    { slot: 'rank' },
    '}',
  ],
};

/** An offer without the closing brace. */
function openOffer(offer: FeedOffer, links: Links): TemplatePart[] {
  const { id, level, stars, categories, countries, devices, payment_term, android_min_os, ios_min_os } = offer;
  const about = {
    id,
    type: offer.events.length > 0 ? 'multireward' : 'offer',
    level,
    stars,
    title: servedText(offer.titles),
    description: servedText(offer.descriptions),
    image: offer.image_name,
  };
  const terms = {
    categories: categories.length === 0 ? null : categories,
    countries: countries.length === 0 ? ['All'] : countries.map(countryName),
    devices: devices.length === 0 ? ['All'] : devices.map((device) => (device === 'desktop' ? 'PC' : device)),
    payment_term,
    android_min_os,
    ios_min_os,
  };
  return [
    `{${members(about)},"payout":`,
    { slot: 'payout' },
    `,${members(terms)},"url":"${links.tracking}${trackingPath(id, '{user_id}')}`,
    { slot: 'link' },
    '"',
    ...milestoneMember(offer),
  ];
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
