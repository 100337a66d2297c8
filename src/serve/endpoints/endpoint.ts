import type { Site } from '../../sites/sites.ts';
import { snapshotHeaders } from '../http/response.ts';
import type { Answer, Body } from '../http/response.ts';
import { cacheControl } from '../http/caching.ts';
import type { HeldPages } from '../pages/held-pages.ts';
import { bySecret } from '../access/identification.ts';
import type { Identification } from '../access/identification.ts';
import { makeOf } from '../pages/offer-page.ts';
import type { OfferPage } from '../pages/offer-page.ts';
import { PreparedPage } from '../pages/prepared-page.ts';
import type { PageBody } from '../pages/prepared-page.ts';
import type { PublishedSnapshot } from '../snapshot/published-snapshot.ts';
import type { Query } from '../http/query.ts';
import type { LimitRule } from '../access/rate-limits.ts';
import type { SiteFeed } from '../offers/site-feed.ts';
import type { Variant } from '../http/variant.ts';

/** A request of an identified and approved site, with the snapshot that answers it. */
export interface Visit {
  site: Site;
  query: Query;
  snapshot: PublishedSnapshot;
  feed: SiteFeed;
  held: HeldPages;
  /** Whether it takes compressed forms. */
  takesCoding: boolean;
  /** When it came, milliseconds since the epoch. */
  now: number;
}

/** What a publisher can ask for. `answer` throws `Refusal` where a parameter is wrong. */
export interface Endpoint {
  variant: Variant;
  identify: Identification;
  limit: LimitRule;
  answer(visit: Visit): Answer | PreparedPage | Promise<PreparedPage>;
}

/** A page of a feed: a fixed function of snapshot, site and parameters, so it is kept: a short one in no compressed form from the second time on. */
export interface Page<Parameters> {
  variant: Variant;
  /** Default: by key and secret. */
  identify?: Identification;
  limit: LimitRule;
  /** Unique among the pages: it stands in their keys. */
  name: string;
  /** Throws `Refusal`. */
  read(query: Query): Parameters;
  /** The same text for all queries that mean the same. */
  key(parameters: Parameters): string;
  write(snapshot: PublishedSnapshot, feed: SiteFeed, parameters: Parameters): OfferPage;
}

export function pageEndpoint<Parameters>(page: Page<Parameters>): Endpoint {
  return {
    variant: page.variant,
    identify: page.identify ?? bySecret,
    limit: page.limit,
    answer({ query, snapshot, feed, takesCoding }) {
      const parameters = page.read(query);
      const key = `${feed.number} ${page.name} ${page.key(parameters)}`;
      const { pages } = snapshot;
      const kept = pages.get(key);
      if (kept !== undefined) return kept;
      const headers = { ...snapshotHeaders(snapshot, page.variant), 'cache-control': cacheControl.page };
      // A compressed form costs more than all else, so its page is kept from the first time on.
      const forOneAnswer = !takesCoding && !snapshot.asked.isAskedAgain(key);
      const make = (body: PageBody) => {
        const made = new PreparedPage(headers, body, () => pages.weighAgain(key));
        if (body.release === undefined) pages.keep(key, made);
        return made;
      };
      return makeOf(page.write(snapshot, feed, parameters), () => pages.get(key), make, forOneAnswer);
    },
  };
}

/** The same, but once made the page is held for some minutes, whatever is published meanwhile. */
export function heldPageEndpoint<Parameters>(page: Page<Parameters>): Endpoint {
  return {
    variant: page.variant,
    identify: page.identify ?? bySecret,
    limit: page.limit,
    answer({ site, query, snapshot, feed, held, now }) {
      const parameters = page.read(query);
      const key = `${page.name} ${page.key(parameters)} ${site.site_key}`;
      const known = held.get(key, now);
      if (known !== undefined) return known;
      const headers = { ...snapshotHeaders(snapshot, page.variant), 'cache-control': cacheControl.topConverting };
      return makeOf(
        page.write(snapshot, feed, parameters),
        () => held.get(key, now),
        (body) => {
          const made = new PreparedPage(headers, body, () => held.weighAgain(key));
          held.keep(key, now, made);
          return made;
        },
      );
    },
  };
}

/** A page that nobody is expected to ask for again soon. */
export function passingPage(variant: Variant, snapshot: PublishedSnapshot, body: PageBody<Body>): PreparedPage {
  return new PreparedPage({ ...snapshotHeaders(snapshot, variant), 'cache-control': cacheControl.page }, body);
}
