import { servedText } from '../../pipeline/feed/feed-document.ts';
import { withOffset } from '../../kit/time/iso-moment.ts';
import { pathBeforeUser, pictureAddress } from '../offers/links.ts';
import { milestoneMember } from '../pages/milestones.ts';
import { members } from '../pages/offer-templates.ts';
import type { Template } from '../pages/offer-templates.ts';

/** Offers of Variants A and C. The slot `link` has the text after `…/user/`. */
export const templateC: Template = {
  name: 'c',
  compile(offer, links) {
    const { id, level, stars, categories, countries, devices, payment_term, android_min_os, ios_min_os } = offer;
    const about = {
      id,
      title: servedText(offer.titles),
      description: servedText(offer.descriptions),
    };
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
    return [
      `{${members(about)},"image":"${pictureAddress(links, offer.image_name)}","payout":`,
      { slot: 'payout' },
      `,${members(terms)},"tracking_url":"${links.tracking}${pathBeforeUser(id)}`,
      { slot: 'link' },
      '","updated_at":"',
      { slot: 'updatedAt' },
      `",${members({ created_at: withOffset(offer.created_at) })}`,
      ...milestoneMember(offer),
      '}',
    ];
  },
};

/** Returns the rest of a link; the user is percent-encoded, or the placeholder for one. */
export function linkEndC(encodedKey: string, user = '{user_id}'): string {
  return `${user}/site/${encodedKey}`;
}
