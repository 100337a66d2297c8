import { isDeepStrictEqual } from 'node:util';
import { commissionOf, type OfferCommission } from '../../kit/sites/offer-commissions.ts';
import type { OfferSelector } from '../../kit/sites/offer-rules.ts';
import type { SiteTerms } from '../../kit/sites/site-terms.ts';
import { microsecondsNumber, withOffset, type Microseconds } from '../../kit/time/iso-moment.ts';
import type { OfferType } from '../http/parameters.ts';
import type { Bitset } from './bitset.ts';
import type { OfferIndex } from './offer-index.ts';
import type { Prices } from './prices.ts';
import type { ServedOffer } from './served-offer.ts';

/** Terms of a site over time, the oldest first; never empty. */
export interface TermsHistory {
  first: SiteTerms;
  /** `validFrom` in RFC 3339, UTC. */
  changes: readonly { validFrom: string; terms: SiteTerms }[];
}

/** The parts of a snapshot that feeds are made of. */
export interface FeedOfAll {
  /** Active offers by id, ascending. */
  offers: readonly ServedOffer[];
  /** Those that converted in the last 48 hours, hottest first. */
  ranked: readonly ServedOffer[];
  index: OfferIndex;
  pricesAt(terms: SiteTerms): Prices;
}

interface Change {
  at: Microseconds;
  text: string;
}

let feedsShared = 0;

/** A snapshot's offers under some terms: what the feeds of all sites with these terms have in common. */
export class SharedFeed {
  /** For the keys of cached pages, unique in this process. */
  readonly number = ++feedsShared;
  /** Terms in force. */
  readonly terms: SiteTerms;
  readonly #all: FeedOfAll;
  /** Undefined where all offers are offered. */
  readonly #offered: Bitset | undefined;
  readonly #changes: readonly Change[];
  /** By offer the last change of terms that changed it, from 1; 0 without one. Undefined without changes. */
  readonly #changed: Uint16Array | undefined;

  constructor({ first, changes }: TermsHistory, all: FeedOfAll) {
    this.terms = changes.at(-1)?.terms ?? first;
    this.#all = all;
    this.#offered = all.index.offered(this.terms.offers);
    this.#changes = changes.map(({ validFrom }) => ({
      at: microsecondsNumber(validFrom),
      text: withOffset(validFrom),
    }));
    if (changes.length > 0) this.#changed = lastChanges([first, ...changes.map(({ terms }) => terms)], all);
  }

  /** To be asked for once a page: those of many commissions are not all kept. */
  prices(): Prices {
    return this.#all.pricesAt(this.terms);
  }

  isOffered(index: number): boolean {
    return this.#offered?.has(index) !== false;
  }

  /** Takes out of a set what is not offered. */
  narrow(offers: Bitset): Bitset {
    if (this.#offered !== undefined) offers.intersect(this.#offered);
    return offers;
  }

  /** Indexes of the offers of a type, or of all, by id ascending; `limit` of them after the first `offset`. */
  ofType(type: OfferType | undefined, offset = 0, limit = Infinity): number[] {
    return this.narrow(this.#all.index.ofType(type)).slice(offset, limit);
  }

  count(type: OfferType): number {
    return this.narrow(this.#all.index.ofType(type)).size;
  }

  /** Indexes of the offers of a placement format, ascending. */
  ofFormat(format: string): readonly number[] {
    const indexes = this.#all.index.ofFormat(format);
    return this.#offered === undefined ? indexes : indexes.filter((index) => this.isOffered(index));
  }

  get ranked(): readonly ServedOffer[] {
    return this.#all.ranked.filter(({ index }) => this.isOffered(index));
  }

  /** The moment at which an offer changed last: its own, or that of a change of terms that concerns it. */
  changedAt({ index, updatedAt }: ServedOffer): Microseconds {
    return Math.max(updatedAt, this.#changeOf(index)?.at ?? updatedAt);
  }

  changedAtText(offer: ServedOffer): string {
    const change = this.#changeOf(offer.index);
    return change !== undefined && change.at > offer.updatedAt ? change.text : offer.updatedAtText;
  }

  #changeOf(index: number): Change | undefined {
    const changed = this.#changed?.[index] ?? 0;
    return changed === 0 ? undefined : this.#changes[changed - 1];
  }
}

/**
 * Returns by offer the place of the last terms under which its amounts are others than under those before, or that only
 * one of both offers; 0 without any. From the newest terms on, and only for offers that they may concern: sites have
 * hundreds of terms, and snapshots tens of thousands of offers.
 */
function lastChanges(history: readonly SiteTerms[], { offers, index }: FeedOfAll): Uint16Array {
  const last = new Uint16Array(offers.length);
  // Those that no later terms changed.
  let open = offers;
  for (let place = history.length - 1; place > 0 && open.length > 0; place--) {
    const [before, after] = [history[place - 1], history[place]] as [SiteTerms, SiteTerms];
    if (!isDeepStrictEqual(before.offers, after.offers))
      for (const moved of index.moved(before.offers, after.offers).slice()) last[moved] ||= place;
    const isOfAll = before.commission !== after.commission;
    const named = index.selected(namedByOneOnly(before.commissions, after.commissions)).slice();
    const concerned = isOfAll ? open : named.map((each) => offers[each] as ServedOffer);
    const [was, is] = [before, after].map(({ commission, commissions }) => commissionOf(commission, commissions));
    for (const offer of concerned) if (was?.(offer) !== is?.(offer)) last[offer.index] ||= place;
    if (isOfAll) open = open.filter((offer) => last[offer.index] === 0);
  }
  return last;
}

/** Selectors of the commissions that only one of the lists has. */
function namedByOneOnly(one: readonly OfferCommission[], other: readonly OfferCommission[]): OfferSelector[] {
  const key = ({ offer, source, commission }: OfferCommission) => `${offer} ${commission} ${source}`;
  const [ofOne, ofOther] = [one, other].map((list) => new Set(list.map(key)));
  return [
    ...one.filter((commission) => ofOther?.has(key(commission)) === false),
    ...other.filter((commission) => ofOne?.has(key(commission)) === false),
  ].map(({ offer, source }) => (source === null ? { offer: offer ?? undefined } : { source }));
}
