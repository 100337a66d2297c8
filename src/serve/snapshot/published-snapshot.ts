import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { feedOffersFile, feedSitesFile, readFeedSites } from '../../pipeline/feed/feed-document.ts';
import type { FeedOffer, FeedSites } from '../../pipeline/feed/feed-document.ts';
import { FeedOffers } from '../../pipeline/feed/feed-offers.ts';
import { pictureOf } from '../../pictures/feed-pictures.ts';
import { termsOf, type SiteTerms } from '../../kit/sites/site-terms.ts';
import type { Site } from '../../kit/sites/sites.ts';
import type { Manifest } from '../../pipeline/snapshot/manifest.ts';
import { DamagedSnapshotError, verifySnapshot } from '../../pipeline/snapshot/verify.ts';
import type { Links } from '../offers/links.ts';
import type { FeedStatus } from '../../kit/vocabulary/values.ts';
import { microsecondsNumber } from '../../kit/time/iso-moment.ts';
import type { Microseconds } from '../../kit/time/iso-moment.ts';
import { OfferIndex } from '../offers/offer-index.ts';
import { OfferTemplates } from '../pages/offer-templates.ts';
import type { Template } from '../pages/offer-templates.ts';
import { Prices } from '../offers/prices.ts';
import { serveOffer } from '../offers/served-offer.ts';
import type { ServedOffer } from '../offers/served-offer.ts';
import { feedOf } from '../offers/site-feed.ts';
import type { SiteFeed } from '../offers/site-feed.ts';
import { SharedFeed, type FeedOfAll } from '../offers/shared-feed.ts';
import { SnapshotClicks } from '../../pipeline/clicks/snapshot-clicks.ts';
import { SnapshotConnections } from '../../pipeline/clicks/snapshot-connections.ts';

/** An offer that is no longer active, for those who keep a copy of the list. */
export interface GoneOffer {
  id: number;
  reason: Exclude<FeedStatus, 'active'>;
  removedAt: string;
  /** The later of its removal and its last change. */
  changedAt: Microseconds;
}

/** The prices of 5,000 offers at more than a hundred commissions; to make others again takes a millisecond. */
const maxPriceBytes = 32 * 1024 * 1024;

type DatedTerms = FeedSites['sites'][number]['terms'][number];

/** Offers of a snapshot, prepared before anybody asks. */
interface PreparedOffers {
  feed: FeedOffers;
  offers: ServedOffer[];
  index: OfferIndex;
  gone: GoneOffer[];
  pictures: ReadonlyMap<string, string>;
}

/**
 * Offers read, and compiled by all templates, between two turns of the event loop: about a millisecond of work, so that
 * requests go on meanwhile.
 */
const offersPerTurn = 50;
const compiledPerTurn = 20;

/** A verified snapshot held in memory, with all that was prepared from it. It never changes. */
export class PublishedSnapshot {
  readonly id: string;
  /** The moment as the manifest writes it. */
  readonly asOf: string;
  /** Counts of postbacks when it was built. */
  readonly deliveries: Manifest['deliveries'];
  /** Active offers by id, ascending. */
  readonly offers: readonly ServedOffer[];
  /** Active offers that converted in the last 48 hours, hottest first. */
  readonly ranked: readonly ServedOffer[];
  readonly gone: readonly GoneOffer[];
  /** Addresses of pictures by their published name, of offers that are gone too: their pictures may still be shown. */
  readonly pictures: ReadonlyMap<string, string>;
  /** Connections to its `analytics.duckdb`, for what is asked of it request by request. */
  readonly connections: SnapshotConnections;
  readonly clicks: SnapshotClicks;
  readonly index: OfferIndex;
  readonly #feed: FeedOffers;
  readonly #all: FeedOfAll;
  readonly #terms: ReadonlyMap<string, readonly DatedTerms[]>;
  readonly #shared = new Map<string, SharedFeed>();
  readonly #feeds = new Map<string, SiteFeed>();
  readonly #prices = new LRUCache<string, Prices>({ maxSize: maxPriceBytes, sizeCalculation: ({ bytes }) => bytes });
  readonly #templates = new Map<string, OfferTemplates>();

  constructor(
    folder: string,
    manifest: Manifest,
    sites: FeedSites,
    { feed, offers, index, gone, pictures }: PreparedOffers,
  ) {
    this.#feed = feed;
    this.id = manifest.snapshot_id;
    this.asOf = manifest.as_of;
    this.deliveries = manifest.deliveries;
    this.offers = offers;
    this.ranked = offers
      .filter((offer) => offer.rank !== null)
      .toSorted((one, other) => (one.rank ?? 0) - (other.rank ?? 0));
    this.gone = gone;
    this.pictures = pictures;
    this.connections = new SnapshotConnections(folder);
    this.clicks = new SnapshotClicks(this.connections);
    this.index = index;
    this.#all = { offers, ranked: this.ranked, index, pricesAt: (terms) => this.#pricesAt(terms) };
    this.#terms = new Map(sites.sites.map((site) => [site.site_key, site.terms]));
  }

  /** A site's feed of this snapshot. Links are the same for as long as it is served. */
  feedOf(site: Site, links: Links): SiteFeed {
    const known = this.#feeds.get(site.site_key);
    const terms = this.#terms.get(site.site_key);
    if (known !== undefined && terms !== undefined) return known;
    // A site that is newer than the snapshot has the terms that `sites.json` says.
    const shared = this.#sharedBy(terms ?? [{ valid_from: this.asOf, ...termsOf(site) }]);
    if (known?.shared === shared) return known;
    const feed = feedOf(site.site_key, shared, links);
    this.#feeds.set(site.site_key, feed);
    return feed;
  }

  /** Returns the feed of all sites with the same terms now, and the same changes before. */
  #sharedBy(history: readonly DatedTerms[]): SharedFeed {
    const [{ valid_from: _known, ...first }, ...later] = history as [DatedTerms, ...DatedTerms[]];
    const key = JSON.stringify([first, later]);
    let shared = this.#shared.get(key);
    if (shared === undefined) {
      const changes = later.map(({ valid_from: validFrom, ...terms }) => ({ validFrom, terms }));
      shared = new SharedFeed({ first, changes }, this.#all);
      this.#shared.set(key, shared);
    }
    return shared;
  }

  /** Returns its offers by a template. Links are the same for as long as it is served. */
  templatesOf(template: Template, links: Links): OfferTemplates {
    let templates = this.#templates.get(template.name);
    if (templates === undefined) {
      templates = new OfferTemplates(template, links, this.offers, (index) =>
        this.#feed.at((this.offers[index] as ServedOffer).line),
      );
      this.#templates.set(template.name, templates);
    }
    return templates;
  }

  /** Compiles all offers by these templates, bit by bit, so that the first to ask need not wait for it. */
  async prepareTemplates(templates: readonly Template[], links: Links): Promise<void> {
    const all = templates.map((template) => this.templatesOf(template, links));
    for (const { index, line } of this.offers) {
      const offer = this.#feed.at(line);
      for (const each of all) each.prepare(index, offer);
      if ((index + 1) % compiledPerTurn === 0) await nextTurn();
    }
  }

  /** Prices that are kept; bounded. */
  get keptPrices(): { commissions: number; bytes: number; maxBytes: number } {
    return { commissions: this.#prices.size, bytes: this.#prices.calculatedSize, maxBytes: maxPriceBytes };
  }

  #pricesAt(terms: SiteTerms): Prices {
    const key = JSON.stringify([terms.commission, terms.commissions]);
    const known = this.#prices.get(key);
    if (known !== undefined) return known;
    const prices = new Prices(terms, this.offers);
    this.#prices.set(key, prices);
    return prices;
  }
}

/**
 * Verifies a snapshot's folder, reads it and prepares its offers. Throws where anything of it is not as it should be.
 */
export async function openSnapshot(folder: string): Promise<PublishedSnapshot> {
  const manifest = await verifySnapshot(folder);
  if (manifest.snapshot_id !== basename(folder)) {
    throw new DamagedSnapshotError(folder, `its manifest is that of ${manifest.snapshot_id}`);
  }
  const sites = readFeedSites(await readFile(join(folder, feedSitesFile), 'utf8'));
  const feed = await FeedOffers.read(join(folder, feedOffersFile));
  const offers: ServedOffer[] = [];
  const index = new OfferIndex(feed.count);
  const gone: GoneOffer[] = [];
  const pictures = new Map<string, string>();
  for (let line = 0; line < feed.count; line++) {
    const offer = feed.at(line);
    if (offer.status === 'active') {
      index.add(offers.length, offer);
      offers.push(serveOffer(offer, offers.length, line));
    } else gone.push(goneOffer(offer, offer.status));
    const picture = pictureOf(offer);
    if (picture !== undefined) pictures.set(picture.name, picture.address);
    if ((line + 1) % offersPerTurn === 0) await nextTurn();
  }
  return new PublishedSnapshot(folder, manifest, sites, { feed, offers, index, gone, pictures });
}

function goneOffer(offer: FeedOffer, reason: GoneOffer['reason']): GoneOffer {
  const removedAt = offer.removed_at ?? offer.updated_at;
  return {
    id: offer.id,
    reason,
    removedAt,
    changedAt: Math.max(microsecondsNumber(removedAt), microsecondsNumber(offer.updated_at)),
  };
}
