import { servedText } from '../../pipeline/feed/feed-document.ts';
import type { FeedOffer } from '../../pipeline/feed/feed-document.ts';
import { listWithPayouts, members } from './offer-templates.ts';
import type { TemplatePart } from './offer-templates.ts';

/**
 * The member `events` of a multireward offer as Variants B and C show it, with the comma before it; nothing for others.
 */
export function milestoneMember(offer: FeedOffer): TemplatePart[] {
  if (offer.events.length === 0) return [];
  const entries = offer.events.map((event) => ({
    before: `{"offer_id":${offer.id},"payout":`,
    after: `,${members({ description: servedText(event.descriptions) })}}`,
  }));
  return [',"events":', ...listWithPayouts(entries)];
}
