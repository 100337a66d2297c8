import { payoutsBetween } from '../milestones.ts';
import type { TextForm } from '../offer-texts.ts';

/** Offers of the reports list. `link` is the site's key. */
export const reportForm: TextForm = {
  name: 'report',
  cut({ report: parts }, links) {
    const icon = parts.icon === '' ? '' : `${links.pictures}${parts.icon}`;
    const beforeLink = `,${parts.beforeIcon}${icon}${parts.beforeLink}${links.tracking}${parts.link}`;
    const [beforeEvents, ...events] = parts.events;
    const start = `,"events":${beforeEvents}`;
    if (events.length === 0) return [parts.beforePayout, parts.beforeEpc, parts.afterEpc, start + beforeLink];
    events.push(events.pop() + beforeLink);
    return [parts.beforePayout, parts.beforeEpc, parts.afterEpc, start, ...events];
  },
  fill(pieces, offer, { prices }, link) {
    const [beforePayout, beforeEpc, afterEpc, afterPayout] = pieces;
    const events = payoutsBetween(prices.eventPayoutTexts(offer), pieces, 4);
    return `${beforePayout}${prices.payoutText(offer)}${afterPayout}${events}${link}${beforeEpc}${prices.epcText(offer)}${afterEpc}`;
  },
};
