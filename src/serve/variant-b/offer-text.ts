import { withPayouts } from '../milestones.ts';
import type { TextForm } from '../offer-texts.ts';

/** Offers of Variant B, without the closing brace: top-converting has more to say. `link` is the site's key. */
export const openFormB: TextForm = {
  name: 'b',
  cut: ({ b: parts, multireward }, links) => [
    { text: parts.beforePayout },
    { slot: 'payout' },
    { text: `${parts.beforeLink}${links.tracking}${parts.link}` },
    { slot: 'link' },
    { text: '"' },
    ...(multireward ? [{ text: ',"events":' }, ...withPayouts(parts.events)] : []),
  ],
};
