import type { Site } from '../../kit/sites/sites.ts';
import { bySecret } from '../../kit/http/site-registry.ts';
import type { Identification } from '../../kit/http/site-registry.ts';
import type { LimitRule } from '../access/limits.ts';
import { cacheControl } from '../http/caching.ts';
import type { Query } from '../../kit/http/query.ts';
import { snapshotHeaders } from '../http/response.ts';
import type { Body, HttpResponse } from '../http/response.ts';
import type { Variant } from '../http/variant.ts';
import type { SiteFeed } from '../offers/site-feed.ts';
import { renderOnce } from '../pages/offer-page.ts';
import type { OfferPage } from '../pages/offer-page.ts';
import { heldPrefix } from '../pages/page-cache.ts';
import type { PageCache } from '../pages/page-cache.ts';
import { PreparedPage } from '../pages/prepared-page.ts';
import type { PageBody } from '../pages/prepared-page.ts';
import type { PublishedSnapshot } from '../snapshot/published-snapshot.ts';

/** A request of an identified and approved site, with the snapshot that answers it. */
export interface RequestContext {
  site: Site;
  query: Query;
  snapshot: PublishedSnapshot;
  feed: SiteFeed;
  pages: PageCache;
  /** When it came, milliseconds since the epoch. */
  now: number;
}

/** What a publisher can ask for. `respond` throws `ApiError` where a parameter is wrong. */
export interface Endpoint {
  variant: Variant;
  identify: Identification;
  limit: LimitRule;
  respond(context: RequestContext): HttpResponse | PreparedPage | Promise<PreparedPage>;
}

/** A page of a feed: a function of snapshot, site and parameters, so that it can be kept. */
export interface PageDefinition<Parameters> {
  variant: Variant;
  limit: LimitRule;
  /** Unique among the pages: it stands in their keys. */
  name: string;
  /** So long it stays as it was made, whatever is published meanwhile. Default: until the next snapshot. */
  heldMilliseconds?: number;
  /** Throws `ApiError`. */
  read(query: Query): Parameters;
  /** The same text for all queries that mean the same. */
  key(parameters: Parameters): string;
  page(snapshot: PublishedSnapshot, feed: SiteFeed, parameters: Parameters): OfferPage;
}

/** An endpoint for key and secret whose pages come out of the cache. */
export function pageEndpoint<Parameters>(definition: PageDefinition<Parameters>): Endpoint {
  const { variant, limit, name, heldMilliseconds } = definition;
  const isHeld = heldMilliseconds !== undefined;
  return {
    variant,
    identify: bySecret,
    limit,
    respond({ query, snapshot, feed, pages, now }) {
      const parameters = definition.read(query);
      const what = `${name} ${definition.key(parameters)}`;
      // The feed's number is another with each snapshot.
      const key = isHeld ? `${heldPrefix}${what} ${feed.siteKey}` : `${feed.number} ${what}`;
      const known = () => {
        const page = pages.get(key);
        if (!(page instanceof PreparedPage)) return undefined;
        // A clock that was set back must not prolong it.
        return !isHeld || (now >= page.madeAt && now - page.madeAt < heldMilliseconds) ? page : undefined;
      };
      return (
        known() ??
        renderOnce(definition.page(snapshot, feed, parameters), known, (body) => {
          const headers = {
            ...snapshotHeaders(snapshot, variant),
            'cache-control': isHeld ? cacheControl.topConverting : cacheControl.page,
          };
          const grown = (page: PreparedPage) => pages.weighAgain(key, page);
          const page = new PreparedPage(headers, body, { madeAt: now, grown });
          return isHeld ? pages.keep(key, page) : pages.keepAskedAgain(key, page);
        })
      );
    },
  };
}

/** A page that nobody is expected to ask for again soon. */
export function passingPage(variant: Variant, snapshot: PublishedSnapshot, body: PageBody<Body>): PreparedPage {
  return new PreparedPage({ ...snapshotHeaders(snapshot, variant), 'cache-control': cacheControl.page }, body);
}
