import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { feedOffersFile, feedSitesFile, feedSitesSchema } from '../../feed/feed-document.ts';
import type { FeedOffer, FeedSites } from '../../feed/feed-document.ts';
import { FeedOffers } from '../../feed/feed-offers.ts';
import { commissionText } from '../../sites/sites.ts';
import type { Site } from '../../sites/sites.ts';
import type { Manifest } from '../../snapshot/manifest.ts';
import { DamagedSnapshotError, verifySnapshot } from '../../snapshot/verify.ts';
import { AskedKeys } from '../pages/asked-keys.ts';
import { webAddress } from '../offers/links.ts';
import type { Links } from '../offers/links.ts';
import type { Gauge } from '../http/metrics.ts';
import { microsecondsOf } from '../offers/moments.ts';
import type { Microseconds } from '../offers/moments.ts';
import { OfferIndex } from '../offers/offer-index.ts';
import { OfferTexts } from '../pages/offer-templates.ts';
import type { TextForm } from '../pages/offer-templates.ts';
import { PageCache } from '../pages/page-cache.ts';
import type { OfferType } from '../http/parameters.ts';
import type { PreparedPage } from '../pages/prepared-page.ts';
import { Prices } from '../offers/prices.ts';
import { serveOffer } from '../offers/served-offer.ts';
import type { ServedOffer } from '../offers/served-offer.ts';
import { feedOf } from '../offers/site-feed.ts';
import type { SiteFeed, SiteTerms } from '../offers/site-feed.ts';
import { SnapshotClicks } from '../clicks/snapshot-clicks.ts';
import type { UnlinkedPage } from '../pages/unlinked-page.ts';

/** An offer that is no longer active, for those who keep a copy of the list. */
export interface GoneOffer {
  id: number;
  reason: 'paused' | 'vanished';
  removedAt: string;
  /** The later of its removal and its last change. */
  changedAt: Microseconds;
}

/** Room for prepared pages: some hundred sites with a handful of pages each. */
const mostPageBytes = 128 * 1024 * 1024;
/** One for each format and commission; that of 5,000 offers has 4 MB. */
const mostUnlinkedBytes = 32 * 1024 * 1024;

/** The prices of 5,000 offers at more than a hundred commissions; to make others again takes a millisecond. */
const mostPriceBytes = 32 * 1024 * 1024;

/** What is made of a snapshot's offers before anybody asks. */
interface PreparedOffers {
  feed: FeedOffers;
  offers: ServedOffer[];
  index: OfferIndex;
  gone: GoneOffer[];
  pictures: ReadonlyMap<string, string>;
}

/** Offers read, and cut in all forms, between two turns of the event loop: about a millisecond of work, so that requests go on meanwhile. */
const offersPerTurn = 50;
const cutsPerTurn = 20;

/** A verified snapshot held in memory, with all that was prepared from it. It never changes; only its cache fills. */
export class PublishedSnapshot {
  readonly id: string;
  /** As the manifest writes it. */
  readonly asOf: string;
  /** How postbacks stood when it was built. */
  readonly deliveries: Manifest['deliveries'];
  /** Active offers by id, ascending. */
  readonly offers: readonly ServedOffer[];
  /** Active offers that converted in the last 48 hours, hottest first. */
  readonly ranked: readonly ServedOffer[];
  readonly gone: readonly GoneOffer[];
  /** Addresses of pictures by their published name, of offers that are gone too: their pictures may still be shown. */
  readonly pictures: ReadonlyMap<string, string>;
  readonly pages = new PageCache<PreparedPage>(mostPageBytes);
  /** By themselves: a key alone opens them, so strangers must not drive out the pages of the others by asking for these. */
  readonly unlinkedPages = new PageCache<UnlinkedPage>(mostUnlinkedBytes);
  readonly asked = new AskedKeys();
  readonly clicks: SnapshotClicks;
  readonly index: OfferIndex;
  readonly #positions: Record<OfferType | 'all', readonly number[]>;
  readonly #feed: FeedOffers;
  readonly #terms: ReadonlyMap<string, SiteTerms>;
  readonly #feeds = new Map<string, SiteFeed>();
  readonly #prices = new LRUCache<string, Prices>({ maxSize: mostPriceBytes, sizeCalculation: ({ bytes }) => bytes });
  readonly #texts = new Map<string, OfferTexts>();
  #feedsMade = 0;

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
    this.clicks = new SnapshotClicks(folder);
    this.index = index;
    this.#positions = {
      all: positions(offers),
      offer: positions(offers.filter((offer) => !offer.multireward)),
      multireward: positions(offers.filter((offer) => offer.multireward)),
    };
    this.#terms = new Map(
      sites.sites.map((site) => [
        site.site_key,
        { commission: site.commission, commissionChangedAt: site.commission_changed_at },
      ]),
    );
  }

  /** Positions of the active offers of a type, or of all, by id ascending. */
  positionsOf(type: OfferType | undefined): readonly number[] {
    return this.#positions[type ?? 'all'];
  }

  /** A site's feed of this snapshot. Links are fixed for as long as the process listens. */
  feedOf(site: Site, links: Links): SiteFeed {
    const known = this.#feeds.get(site.site_key);
    if (known !== undefined && (this.#terms.has(site.site_key) || known.commission === commissionText(site)))
      return known;
    const terms = this.#terms.get(site.site_key) ?? { commission: commissionText(site), commissionChangedAt: null };
    const feed = feedOf(++this.#feedsMade, site.site_key, terms, () => this.#pricesAt(terms.commission), links);
    this.#feeds.set(site.site_key, feed);
    return feed;
  }

  /** Its offers as a form writes them. Links are fixed for as long as the process listens. */
  textsOf(form: TextForm, links: Links): OfferTexts {
    let texts = this.#texts.get(form.name);
    if (texts === undefined)
      this.#texts.set(
        form.name,
        (texts = new OfferTexts(form, links, this.offers, (position) =>
          this.#feed.at((this.offers[position] as ServedOffer).place),
        )),
      );
    return texts;
  }

  /** Cuts all offers in these forms, bit by bit, so that the first to ask need not wait for it. */
  async prepareTexts(forms: readonly TextForm[], links: Links): Promise<void> {
    const texts = forms.map((form) => this.textsOf(form, links));
    for (const { index, place } of this.offers) {
      const offer = this.#feed.at(place);
      for (const each of texts) each.prepare(index, offer);
      if ((index + 1) % cutsPerTurn === 0) await nextTurn();
    }
  }

  /** What it holds of what was made of it; each is bounded. */
  get gauges(): Gauge[] {
    const { pages, unlinkedPages } = this;
    return [
      {
        name: 'offerline_prepared_pages',
        help: 'Pages that are kept prepared.',
        value: pages.count + unlinkedPages.count,
      },
      {
        name: 'offerline_prepared_page_bytes',
        help: 'Memory held by prepared pages.',
        value: pages.bytes + unlinkedPages.bytes,
      },
      {
        name: 'offerline_prepared_page_bytes_limit',
        help: 'Beyond so much, the pages unused for longest are dropped.',
        value: mostPageBytes + mostUnlinkedBytes,
      },
      { name: 'offerline_price_lists', help: 'Commissions whose prices are kept.', value: this.#prices.size },
      {
        name: 'offerline_price_list_bytes',
        help: 'Memory held by the prices of commissions.',
        value: this.#prices.calculatedSize,
      },
      {
        name: 'offerline_price_list_bytes_limit',
        help: 'Beyond so much, the prices unused for longest are dropped.',
        value: mostPriceBytes,
      },
    ];
  }

  #pricesAt(commission: string): Prices {
    const known = this.#prices.get(commission);
    if (known !== undefined) return known;
    const prices = new Prices(commission, this.offers);
    this.#prices.set(commission, prices);
    return prices;
  }
}

function positions(offers: readonly ServedOffer[]): number[] {
  return offers.map(({ index }) => index);
}

/** Verifies a snapshot's folder, reads it and prepares its offers. Throws where anything of it is not as it should be. */
export async function openSnapshot(folder: string): Promise<PublishedSnapshot> {
  const manifest = await verifySnapshot(folder);
  if (manifest.snapshot_id !== basename(folder)) {
    throw new DamagedSnapshotError(folder, `its manifest is that of ${manifest.snapshot_id}`);
  }
  const sites = feedSitesSchema.parse(JSON.parse(await readFile(join(folder, feedSitesFile), 'utf8')));
  const feed = await FeedOffers.read(join(folder, feedOffersFile));
  const offers: ServedOffer[] = [];
  const index = new OfferIndex(feed.count);
  const gone: GoneOffer[] = [];
  const pictures = new Map<string, string>();
  for (let place = 0; place < feed.count; place++) {
    const offer = feed.at(place);
    if (offer.status === 'active') {
      index.add(offers.length, offer);
      offers.push(serveOffer(offer, offers.length, place));
    } else gone.push(goneOffer(offer, offer.status));
    const picture = webAddress(offer.image_source);
    if (offer.image_name !== '' && picture !== undefined) pictures.set(offer.image_name, picture);
    if ((place + 1) % offersPerTurn === 0) await nextTurn();
  }
  return new PublishedSnapshot(folder, manifest, sites, { feed, offers, index, gone, pictures });
}

function goneOffer(offer: FeedOffer, reason: GoneOffer['reason']): GoneOffer {
  const removedAt = offer.removed_at ?? offer.updated_at;
  return {
    id: offer.id,
    reason,
    removedAt,
    changedAt: Math.max(microsecondsOf(removedAt), microsecondsOf(offer.updated_at)),
  };
}
