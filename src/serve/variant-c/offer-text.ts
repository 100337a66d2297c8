import { withPayouts } from '../pages/milestones.ts';
import { withOffset } from '../offers/moments.ts';
import type { TextForm } from '../pages/offer-templates.ts';
import { offerPartsC } from './offer-parts.ts';

/** Offers of Variants A and C. What `link` goes on with follows `…/user/`. */
export const formC: TextForm = {
  name: 'c',
  cut(offer, links) {
    const parts = offerPartsC(offer);
    const image = parts.image === '' ? '' : `${links.pictures}${parts.image}`;
    return [
      { text: `${parts.beforeImage}${image}","payout":` },
      { slot: 'payout' },
      { text: `${parts.beforeLink}${links.tracking}${parts.beforeUser}` },
      { slot: 'link' },
      { text: '","updated_at":"' },
      { updatedAt: withOffset(offer.updated_at) },
      { text: parts.afterUpdatedAt },
      ...(offer.events.length > 0 ? [{ text: ',"events":' }, ...withPayouts(parts.events)] : []),
      { text: '}' },
    ];
  },
};

/** What the link goes on with; the user is percent-encoded, or the placeholder for one. */
export function linkEndC(encodedKey: string, user = '{user_id}'): string {
  return `${user}/site/${encodedKey}`;
}
