import { withPayouts } from '../pages/milestones.ts';
import type { TextForm } from '../pages/offer-templates.ts';
import { reportParts } from './report-parts.ts';

/** Offers of the reports list. `link` is the site's key. */
export const reportForm: TextForm = {
  name: 'report',
  cut(offer, links) {
    const parts = reportParts(offer);
    const icon = parts.icon === '' ? '' : `${links.pictures}${parts.icon}`;
    return [
      { text: parts.beforePayout },
      { slot: 'payout' },
      { text: ',"events":' },
      ...withPayouts(parts.events),
      { text: `,${parts.beforeIcon}${icon}${parts.beforeLink}${links.tracking}${parts.link}` },
      { slot: 'link' },
      { text: parts.beforeEpc },
      { slot: 'epc' },
      { text: parts.afterEpc },
    ];
  },
};
