import { percentEncoded } from '../../kit/text/percent-encoded.ts';
import { microsecondsNumber, withOffset } from '../../kit/time/iso-moment.ts';
import type { Microseconds } from '../../kit/time/iso-moment.ts';
import type { Links } from './links.ts';
import type { Prices } from './prices.ts';

/** Terms of a site that a snapshot fixes; for a site that is newer than the snapshot, what `sites.json` says. */
export interface SiteTerms {
  /** Decimal text of a share from 0 to 1. */
  commission: string;
  /** RFC 3339, UTC. */
  commissionChangedAt: string | null;
}

/** All that sets one site's feed of a snapshot apart from another's. */
export interface SiteFeed {
  /** A number for snapshot, site and terms in the keys of cached pages, unique in this process. */
  number: number;
  commission: string;
  /** The same for sites whose offers differ in their keys alone. */
  terms: string;
  siteKey: string;
  encodedKey: string;
  links: Links;
  /** To be asked for once a page: those of many commissions are not all kept. */
  prices: () => Prices;
  /** Minus infinity while the commission never changed. */
  commissionChangedAt: Microseconds;
  commissionChangedAtText: string;
}

let feedsMade = 0;

export function feedOf(siteKey: string, terms: SiteTerms, prices: () => Prices, links: Links): SiteFeed {
  const changedAt = terms.commissionChangedAt;
  return {
    number: ++feedsMade,
    commission: terms.commission,
    terms: `${terms.commission} ${changedAt ?? ''}`,
    siteKey,
    encodedKey: percentEncoded(siteKey),
    links,
    prices,
    commissionChangedAt: changedAt === null ? Number.NEGATIVE_INFINITY : microsecondsNumber(changedAt),
    commissionChangedAtText: changedAt === null ? '' : withOffset(changedAt),
  };
}
