import { servedText } from '../../feed/feed-document.ts';
import type { FeedOffer } from '../../feed/feed-document.ts';
import { members } from './json-text.ts';
import type { OfferPart } from './offer-part.ts';

/** The `events` of an offer as Variants B and C show them: JSON cut where each payout comes in; one piece where there are none. */
export function milestonePieces(offer: FeedOffer): string[] {
  return cutAtPayouts(
    offer.events.map((event) => ({
      before: `{"offer_id":${offer.id},"payout":`,
      after: `,${members({ description: servedText(event.descriptions) })}}`,
    })),
  );
}

/** The JSON of a list, cut where each entry's payout comes in. */
export function cutAtPayouts(entries: readonly { before: string; after: string }[]): string[] {
  const pieces: string[] = [];
  let piece = '[';
  for (const { before, after } of entries) {
    pieces.push(piece + before);
    piece = `${after},`;
  }
  pieces.push(entries.length === 0 ? '[]' : piece.replace(/,$/, ']'));
  return pieces;
}

/** The pieces of such a list, with the payout of each milestone between them. */
export function withPayouts(pieces: readonly string[]): OfferPart[] {
  return pieces.flatMap((text, place) => (place === 0 ? [{ text }] : [{ slot: place - 1 }, { text }]));
}
