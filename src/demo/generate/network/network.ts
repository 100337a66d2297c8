import type { Site } from '../../../kit/sites/sites.ts';
import type { GeneratedOffer } from './canonical-records.ts';
import { catalogOffers } from './catalog.ts';
import { publisherSites } from './publishers.ts';
import { Random, seedFor } from './random.ts';
import { WeightedChoice, zipfWeight } from './weighted-choice.ts';

/** An offer with what only the generator knows of it. */
export interface NetworkOffer {
  record: GeneratedOffer;
  /** Share of the clicks that convert. */
  conversionRate: number;
  /** Growth of that share in the last 24 hours, which makes trends. */
  momentum: number;
}

/** Network without its traffic: who advertises, who publishes, and how popular each of them is. */
export interface Network {
  seed: number;
  offers: NetworkOffer[];
  sites: Site[];
  /** Offers that are shown, by popularity. */
  shownOffers: WeightedChoice<NetworkOffer>;
  visitedSites: WeightedChoice<Site>;
}

/** Zone of the clocks of one partner that writes times without an offset; it has no daylight saving time. */
export const partnerZone = { name: 'Asia/Singapore', offsetMs: 8 * 60 * 60 * 1000 };

/** `offerline.json` of a generated network. */
export const networkSettings = {
  rates: { EUR: '1.08', GBP: '1.27' },
  sources: { clickfield: { mode: 'delta', time_zone: partnerZone.name } },
  logs: { conversions: { time_zone: partnerZone.name } },
} as const;

const usualRates = { app: 0.045, web: 0.03, survey: 0.08, game: 0.025 };

/** A pure function of its arguments; `end` is in epoch milliseconds. */
export function buildNetwork(seed: number, size: { offers: number; sites: number }, end: number): Network {
  const random = new Random(seedFor(seed, 'popularity'));
  const offers = catalogOffers(seed, size.offers, end).map((record): NetworkOffer => ({
    record,
    conversionRate: usualRates[record.report_category ?? 'web'] * (0.4 + 1.4 * random.next()),
    momentum: random.pick([0.4, 0.8, 1, 1, 1, 1.2, 2]),
  }));
  const sites = publisherSites(seed, size.sites);
  const ranks = random.shuffle(offers.map((_, index) => index));
  const popularity = new Map(
    offers.map((offer, index) => [offer, offer.record.status === 'paused' ? 0 : zipfWeight(ranks[index] as number)]),
  );
  return {
    seed,
    offers,
    sites,
    shownOffers: new WeightedChoice(offers, (offer) => popularity.get(offer) as number),
    visitedSites: new WeightedChoice(sites, (site) =>
      site.status === 'pending' ? 0 : zipfWeight(sites.indexOf(site)),
    ),
  };
}
