import { hash } from 'node:crypto';
import { servedLanguage, servedText } from '../../feed/feed-document.ts';
import type { CanonicalOffer } from '../../landing/catalog/canonical-offer.ts';
import type { Moment } from '../../../kit/time/moment.ts';
import type { LocalizedText } from '../../../kit/vocabulary/offer-fields.ts';

/** Digests that distinguish versions, as lower-case hex SHA-256. */
export interface ContentDigests {
  /** Over all that a version keeps: another digest makes a new version. */
  contentSha256: string;
  /** Over what publishers see of it: another digest moves `updated_at`. */
  publishedSha256: string;
}

/**
 * Digests of an offer's content. The ids are its identity and not content. The source's `updated_at` is neither kept
 * nor published: exports that stamp every offer again each day would otherwise make a version of each. Nor is the order
 * of languages content, but for the first one where it is served.
 */
export function digestsOf(offer: CanonicalOffer, createdAt: Moment): ContentDigests {
  return digestsAsWritten(
    {
      ...offer,
      titles: servedFirst(offer.titles),
      descriptions: servedFirst(offer.descriptions),
      events: offer.events.map((event) => ({ ...event, descriptions: servedFirst(event.descriptions) })),
    },
    createdAt,
  );
}

/** Digests over texts in the source's order of languages, as versions have them that are older than `digestsOf`. */
export function digestsAsWritten(offer: CanonicalOffer, createdAt: Moment): ContentDigests {
  const {
    id: _id,
    external_id: _externalId,
    updated_at: _updatedAt,
    created_at: _createdAt,
    destination_url,
    currency,
    currency_rate,
    ...shown
  } = offer;
  const published = { ...shown, created_at: createdAt };
  // Titles are served in one language, descriptions and milestones in all.
  return {
    // Without those of USD, so that versions that kept no currency are still the last ones.
    contentSha256: digest({ ...published, destination_url, ...(currency !== 'USD' && { currency, currency_rate }) }),
    publishedSha256: digest({ ...published, titles: servedText(published.titles) }),
  };
}

/** A vanished offer keeps its last content, so its digests follow from the last ones. */
export function vanishedDigests(last: ContentDigests): ContentDigests {
  return {
    contentSha256: digest(['vanished', last.contentSha256]),
    publishedSha256: digest(['vanished', last.publishedSha256]),
  };
}

/** Returns a text with the language first that is served, the others by their codes. */
function servedFirst(texts: LocalizedText): LocalizedText {
  const served = servedLanguage(texts);
  const rank = (language: string) => (language === served ? '' : language);
  return Object.fromEntries(Object.entries(texts).toSorted(([one], [other]) => (rank(one) < rank(other) ? -1 : 1)));
}

function digest(value: unknown): string {
  return hash('sha256', JSON.stringify(value), 'hex');
}
