import type { Site } from '../sites/sites.ts';
import { snapshotHeaders } from './answer.ts';
import type { Answer } from './answer.ts';
import { cacheControl } from './caching.ts';
import type { HeldPages } from './held-pages.ts';
import { bySecret } from './identification.ts';
import type { Identification } from './identification.ts';
import { PreparedPage } from './prepared-page.ts';
import type { PublishedSnapshot } from './published-snapshot.ts';
import type { Query } from './query.ts';
import type { LimitRule } from './rate-limits.ts';
import type { SiteFeed } from './site-feed.ts';
import type { Variant } from './variant.ts';

/** A request of an identified and approved site, with the snapshot that answers it. */
export interface Visit {
  site: Site;
  query: Query;
  snapshot: PublishedSnapshot;
  feed: SiteFeed;
  held: HeldPages;
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

/** A page of a feed: a fixed function of snapshot, site and parameters, so it is made once and kept. */
export interface Page<Parameters> {
  variant: Variant;
  /** Default: by key and secret. */
  identify?: Identification;
  limit: LimitRule;
  /** Whether each user of a site has a page: such pages must not drive out those of the sites. */
  perUser?: boolean;
  /** Unique among the pages: it stands in their keys. */
  name: string;
  /** Throws `Refusal`. */
  read(query: Query): Parameters;
  /** The same text for all queries that mean the same. */
  key(parameters: Parameters): string;
  /** The page's JSON. */
  write(snapshot: PublishedSnapshot, feed: SiteFeed, parameters: Parameters): string;
}

export function pageEndpoint<Parameters>(page: Page<Parameters>): Endpoint {
  return {
    variant: page.variant,
    identify: page.identify ?? bySecret,
    limit: page.limit,
    answer({ query, snapshot, feed }) {
      const parameters = page.read(query);
      const key = `${feed.number} ${page.name} ${page.key(parameters)}`;
      const pages = page.perUser ? snapshot.userPages : snapshot.pages;
      const kept = pages.get(key);
      if (kept !== undefined) return kept;
      const made = prepare(page, snapshot, feed, parameters, cacheControl.page, () => pages.weighAgain(key));
      pages.keep(key, made);
      return made;
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
      const make = (grown: () => void) => prepare(page, snapshot, feed, parameters, cacheControl.topConverting, grown);
      return held.get(`${page.name} ${page.key(parameters)} ${site.site_key}`, now, make);
    },
  };
}

/** An answer that nobody is expected to ask for again soon. */
export function writtenAnswer(variant: Variant, snapshot: PublishedSnapshot, text: string): PreparedPage {
  return new PreparedPage({ ...snapshotHeaders(snapshot, variant), 'cache-control': cacheControl.page }, Buffer.from(text));
}

function prepare<Parameters>(page: Page<Parameters>, snapshot: PublishedSnapshot, feed: SiteFeed, parameters: Parameters, keeping: string, grown: () => void): PreparedPage {
  const headers = { ...snapshotHeaders(snapshot, page.variant), 'cache-control': keeping };
  return new PreparedPage(headers, Buffer.from(page.write(snapshot, feed, parameters)), grown);
}
