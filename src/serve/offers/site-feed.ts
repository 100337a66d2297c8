import { percentEncoded } from './links.ts';
import type { Links } from './links.ts';
import { microsecondsOf, withOffset } from './moments.ts';
import type { Microseconds } from './moments.ts';
import type { Prices } from './prices.ts';

/** What a snapshot fixes of a site; for a site that is newer than the snapshot, what `sites.json` says. */
export interface SiteTerms {
  /** Decimal text of a share from 0 to 1. */
  commission: string;
  commissionChangedAt: string | null;
}

/** All that sets one site's feed of a snapshot apart from another's. */
export interface SiteFeed {
  /** Unique within the snapshot: stands for site and terms in the keys of prepared pages. */
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

export function feedOf(
  number: number,
  siteKey: string,
  terms: SiteTerms,
  prices: () => Prices,
  links: Links,
): SiteFeed {
  const changedAt = terms.commissionChangedAt;
  return {
    number,
    commission: terms.commission,
    terms: `${terms.commission} ${changedAt ?? ''}`,
    siteKey,
    encodedKey: percentEncoded(siteKey),
    links,
    prices,
    commissionChangedAt: changedAt === null ? Number.NEGATIVE_INFINITY : microsecondsOf(changedAt),
    commissionChangedAtText: changedAt === null ? '' : withOffset(changedAt),
  };
}
