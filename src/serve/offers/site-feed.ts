import { percentEncoded } from '../../kit/text/percent-encoded.ts';
import type { Links } from './links.ts';
import type { SharedFeed } from './shared-feed.ts';

/** A site's feed of a snapshot. */
export interface SiteFeed {
  /** A number for snapshot, site and terms in the keys of cached pages, unique in this process. */
  number: number;
  shared: SharedFeed;
  siteKey: string;
  encodedKey: string;
  links: Links;
}

let feedsMade = 0;

export function feedOf(siteKey: string, shared: SharedFeed, links: Links): SiteFeed {
  return { number: ++feedsMade, shared, siteKey, encodedKey: percentEncoded(siteKey), links };
}
