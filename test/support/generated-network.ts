import type { Site } from '../../src/kit/sites/sites.ts';
import type {
  GeneratedClick,
  GeneratedConversion,
  GeneratedOffer,
} from '../../src/demo/generate/network/canonical-records.ts';
import { conversionSource } from '../../src/demo/generate/network/conversion-events.ts';
import { buildNetwork, networkSettings } from '../../src/demo/generate/network/network.ts';
import { fewestSites } from '../../src/demo/generate/network/publishers.ts';
import { visits, type Traffic } from '../../src/demo/generate/network/traffic.ts';

export interface SmallNetwork {
  /** Content of `offerline.json`. */
  settings: typeof networkSettings;
  sites: Site[];
  offers: GeneratedOffer[];
  /** Ordered by time, each once. */
  clicks: GeneratedClick[];
  /** Ordered by time, each (conversion, kind) once. A few name a click that is not among the clicks. */
  conversions: GeneratedConversion[];
}

/**
 * Makes what `generate` writes, without mess, as lists in memory: for tests that cut and shuffle. A pure function of
 * its arguments.
 */
export function smallNetwork(
  seed: number,
  {
    clicks,
    days,
    end,
    offers = 12,
    sites = fewestSites,
  }: { clicks: number; days: number; end: Date; offers?: number; sites?: number },
): SmallNetwork {
  const traffic: Traffic = { seed, clicks, days, end: end.getTime() };
  const network = buildNetwork(seed, { offers, sites }, traffic.end);
  const visited = [...visits(network, traffic)];
  return {
    settings: networkSettings,
    sites: network.sites,
    offers: network.offers.map(({ record }) => record),
    clicks: visited.map(({ click }) => click),
    conversions: visited
      .flatMap(conversionSource(traffic))
      .toSorted((a, b) => a.at - b.at)
      .map(({ conversion }) => conversion),
  };
}
