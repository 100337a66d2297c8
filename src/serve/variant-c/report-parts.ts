import { servedText } from '../../feed/feed-document.ts';
import type { FeedOffer } from '../../feed/feed-document.ts';
import { members } from '../pages/json-text.ts';
import { percentEncoded, trackingPath } from '../offers/links.ts';
import { cutAtPayouts } from '../pages/milestones.ts';
import { decimalOf, shortestText } from '../offers/money.ts';

/** An offer of the reports list as JSON, cut where something of the site or of the service's addresses comes in. */
export interface ReportParts {
  beforePayout: string;
  /** Cut at each payout. */
  events: string[];
  beforeIcon: string;
  /** Percent-encoded file name; empty where the offer has no picture. */
  icon: string;
  beforeLink: string;
  link: string;
  beforeEpc: string;
  afterEpc: string;
}

export function reportParts(offer: FeedOffer): ReportParts {
  const paying = offer.events.filter((event) => decimalOf(event.payout).units > 0n);
  const kind = {
    multiEvent: paying.length > 1,
    multiComplete: offer.multi_complete,
    trackingType: offer.tracking_type,
    previewUrl: offer.preview_url,
  };
  const limits = {
    device: offer.devices.map((device) => (device === 'desktop' ? 'pc' : device)),
    dailyCap: offer.daily_cap,
    dailyClickCap: offer.daily_click_cap,
  };
  return {
    beforePayout: `{${members({ id: String(offer.id), name: servedText(offer.titles), description: offer.descriptions })},"payout":`,
    events: cutAtPayouts(
      offer.events.map((event) => ({
        before: `{${members({ eventId: event.event_id, action: event.descriptions })},"payout":`,
        after: '}',
      })),
    ),
    beforeIcon: `${members(kind)},"icon":"`,
    icon: percentEncoded(offer.image_name),
    beforeLink: `",${members({ category: offer.report_category, country: offer.countries })},"url":"`,
    link: trackingPath(offer.id, '[USER_ID]'),
    beforeEpc: `",${members(limits)},"epc":`,
    afterEpc: `,"cvr":${offer.figures === null ? '0' : shortestText(decimalOf(offer.figures.cvr))}}`,
  };
}
