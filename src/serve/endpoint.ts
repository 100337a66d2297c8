import type { Site } from '../sites/sites.ts';
import { snapshotHeaders } from './answer.ts';
import type { Answer } from './answer.ts';
import type { PublishedSnapshot } from './published-snapshot.ts';
import type { Query } from './query.ts';
import type { SiteFeed } from './site-feed.ts';
import type { Variant } from './variant.ts';

/** A request of an identified and approved site, with the snapshot that answers it. */
export interface Visit {
  site: Site;
  query: Query;
  snapshot: PublishedSnapshot;
  feed: SiteFeed;
  /** Wall clock, milliseconds since the epoch. */
  now: () => number;
}

/** What a publisher can ask for. `answer` throws `Refusal` where a parameter is wrong. */
export interface Endpoint {
  variant: Variant;
  answer(visit: Visit): Answer;
}

/** A page of a feed: a fixed function of snapshot, site and parameters, so it is made once and kept. */
export interface Page<Parameters> {
  variant: Variant;
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
    answer({ query, snapshot, feed }) {
      const parameters = page.read(query);
      const key = `${feed.number} ${page.name} ${page.key(parameters)}`;
      const kept = snapshot.pages.get(key);
      if (kept !== undefined) return kept;
      const body = Buffer.from(page.write(snapshot, feed, parameters));
      const made: Answer = { status: 200, headers: snapshotHeaders(snapshot, page.variant), body };
      snapshot.pages.keep(key, made);
      return made;
    },
  };
}
