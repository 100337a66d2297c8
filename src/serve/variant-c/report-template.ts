import { servedText } from '../../pipeline/feed/feed-document.ts';
import { decimalOf, decimalText } from '../../kit/text/decimal-text.ts';
import { pictureAddress, trackingPath } from '../offers/links.ts';
import { listWithPayouts, members } from '../pages/offer-templates.ts';
import type { Template } from '../pages/offer-templates.ts';

/** Offers of the reports list. `link` is the site's key. */
export const reportTemplate: Template = {
  name: 'report',
  compile(offer, links) {
    const events = offer.events.map(({ event_id, descriptions }) => ({
      before: `{${members({ eventId: event_id, action: descriptions })},"payout":`,
      after: '}',
    }));
    const kind = {
      multiEvent: offer.events.filter(({ payout }) => decimalOf(payout).units > 0n).length > 1,
      multiComplete: offer.multi_complete,
      trackingType: offer.tracking_type,
      previewUrl: offer.preview_url,
    };
    const limits = {
      device: offer.devices.map((device) => (device === 'desktop' ? 'pc' : device)),
      dailyCap: offer.daily_cap,
      dailyClickCap: offer.daily_click_cap,
    };
    return [
      `{${members({ id: String(offer.id), name: servedText(offer.titles), description: offer.descriptions })},"payout":`,
      { slot: 'payout' },
      ',"events":',
      ...listWithPayouts(events),
      `,${members(kind)},"icon":"${pictureAddress(links, offer.image_name)}",`,
      `${members({ category: offer.report_category, country: offer.countries })},"url":"`,
      `${links.tracking}${trackingPath(offer.id, '[USER_ID]')}`,
      { slot: 'link' },
      `",${members(limits)},"epc":`,
      { slot: 'epc' },
      `,"cvr":${offer.figures === null ? '0' : decimalText(decimalOf(offer.figures.cvr))}}`,
    ];
  },
};
