import { withPayouts } from '../pages/milestones.ts';
import type { TextForm } from '../pages/offer-templates.ts';
import { offerPartsB } from './offer-parts.ts';

/** Offers of Variant B, without the closing brace: top-converting has more to say. `link` is the site's key. */
export const openFormB: TextForm = {
  name: 'b',
  cut(offer, links) {
    const parts = offerPartsB(offer);
    return [
      { text: parts.beforePayout },
      { slot: 'payout' },
      { text: `${parts.beforeLink}${links.tracking}${parts.link}` },
      { slot: 'link' },
      { text: '"' },
      ...(offer.events.length > 0 ? [{ text: ',"events":' }, ...withPayouts(parts.events)] : []),
    ];
  },
};
