import { servedText } from '../feed/feed-document.ts';
import type { FeedOffer } from '../feed/feed-document.ts';
import { members } from './json-text.ts';

/** A milestone's JSON as Variants B and C show it, cut where the payout comes in. */
export interface MilestoneParts {
  beforePayout: string;
  afterPayout: string;
}

export function milestoneParts(offer: FeedOffer): MilestoneParts[] {
  return offer.events.map((event) => ({
    beforePayout: `{"offer_id":${offer.id},"payout":`,
    afterPayout: `,${members({ description: servedText(event.descriptions) })}}`,
  }));
}

/** The `events` of one offer, with its payouts in the same order. */
export function milestonesText(parts: readonly MilestoneParts[], payouts: readonly string[]): string {
  return `[${parts.map((event, place) => `${event.beforePayout}${payouts[place]}${event.afterPayout}`).join(',')}]`;
}
