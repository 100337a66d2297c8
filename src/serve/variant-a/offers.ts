import { pageEndpoint } from '../endpoint.ts';
import { byKey } from '../identification.ts';
import { percentEncoded } from '../links.ts';
import { readChoice, readText } from '../parameters.ts';
import type { Query } from '../query.ts';
import { perMinuteAndClient } from '../rate-limits.ts';
import { Refusal } from '../refusal.ts';
import { formC, linkEndC } from '../variant-c/offer-text.ts';
import { variantA } from './variant.ts';

const formats = ['offerwall', 'banners', 'surveys', 'PTC'] as const;

/** As long as a click's `user_id` may be: a longer one could never be credited. Characters. */
const longestUserId = 256;

/** `GET /api/offers`: the offers of one placement format, with links that carry the user. */
export const offersA = pageEndpoint({
  variant: variantA,
  identify: byKey('site_key', 'user_id', 'format'),
  limit: perMinuteAndClient,
  name: 'offers-a',
  perUser: true,
  read(query) {
    // That both are there was checked with the site's key.
    return { userId: readUserId(query), format: readChoice(query, 'format', formats) ?? 'offerwall' };
  },
  key: ({ userId, format }) => `${format} ${userId}`,
  write(snapshot, feed, { userId, format }) {
    const offers = snapshot.index.ofFormat(format);
    const head = JSON.stringify({ success: true, site_key: feed.siteKey, user_id: userId, format, total: offers.length });
    const link = linkEndC(feed.encodedKey, percentEncoded(userId));
    return { head: `${head.slice(0, -1)},"offers":[`, offers, texts: snapshot.textsOf(formC, feed.links), feed, link, tail: ']}' };
  },
});

function readUserId(query: Query): string {
  const text = readText(query, 'user_id') ?? '';
  if (Array.from(text).length > longestUserId) throw new Refusal('wrong_parameter', `user_id has at most ${longestUserId} characters`);
  return text;
}
