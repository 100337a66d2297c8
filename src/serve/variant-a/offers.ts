import { passingPage } from '../endpoints/endpoint.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { byKey } from '../access/identification.ts';
import { percentEncoded } from '../offers/links.ts';
import { makeOf } from '../pages/offer-page.ts';
import type { PublishedSnapshot } from '../snapshot/published-snapshot.ts';
import { perMinuteAndClient } from '../access/rate-limits.ts';
import type { SiteFeed } from '../offers/site-feed.ts';
import { formC, linkEndC } from '../variant-c/offer-text.ts';
import { parametersA } from './parameters.ts';
import { linkGap, UnlinkedPage } from '../pages/unlinked-page.ts';
import { variantA } from './variant.ts';

/** `GET /api/offers`: the offers of one placement format, with links that carry the user. */
export const offersA: Endpoint = {
  variant: variantA,
  identify: byKey(parametersA.userId, parametersA.format),
  limit: perMinuteAndClient,
  async answer({ query, snapshot, feed }) {
    // That both are there was checked with the site's key.
    const userId = parametersA.userId.read(query) ?? '';
    const format = parametersA.format.read(query) ?? 'offerwall';
    const page = await unlinkedPage(snapshot, feed, format);
    const head = JSON.stringify({
      success: true,
      site_key: feed.siteKey,
      user_id: userId,
      format,
      total: snapshot.index.ofFormat(format).length,
    });
    return passingPage(
      variantA,
      snapshot,
      page.linked(`${head.slice(0, -1)},`, linkEndC(feed.encodedKey, percentEncoded(userId))),
    );
  },
};

function unlinkedPage(
  snapshot: PublishedSnapshot,
  feed: SiteFeed,
  format: string,
): UnlinkedPage | Promise<UnlinkedPage> {
  const pages = snapshot.unlinkedPages;
  const key = `${feed.terms} ${format}`;
  const kept = pages.get(key);
  if (kept !== undefined) return kept;
  const offers = snapshot.index.ofFormat(format);
  const texts = snapshot.textsOf(formC, feed.links);
  return makeOf(
    { head: '"offers":[', offers, texts, feed, link: linkGap, tail: ']}' },
    () => pages.get(key),
    (body) => {
      const made = new UnlinkedPage(body);
      pages.keep(key, made);
      return made;
    },
  );
}
