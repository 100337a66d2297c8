import { Random, seedFor } from '../../../src/demo/generate/network/random.ts';
import type { Site } from '../../../src/kit/sites/sites.ts';

export type Credentials = Pick<Site, 'site_key' | 'site_secret'>;

export const defaultPages = {
  'default page of B': '/b/api/v1/offers',
  'default page of C': '/c/api/v1/offers',
  'reports of C': '/c/api/v1/reports',
} as const;

export function pathOf(base: string, site: Credentials, parameters: Record<string, string> = {}): string {
  return `${base}?${new URLSearchParams({ site_key: site.site_key, site_secret: site.site_secret, ...parameters }).toString()}`;
}

/** Values that the generated catalogs hold, so that filters find something. */
const countries = ['US', 'GB', 'DE', 'FR', 'ES', 'IT', 'NL', 'PL', 'BR', 'JP', 'AU', 'CA'];
const devices = ['android', 'ios', 'desktop'];
const categories = ['games', 'surveys', 'sign-up', 'productivity', 'education', 'finance', 'Shopping'];

/** Each filter is there in half of the requests or more. Offsets lead to later pages, a few of them past the end. */
const shares = { country: 0.6, device: 0.6, category: 0.5, minPayout: 0.5, offset: 0.4 };

/**
 * So many requests of Variant C with parameters drawn at random, no two alike: nothing of one answer helps with
 * another.
 */
export function randomFilters(seed: number, sites: readonly Credentials[], count: number): string[] {
  const random = new Random(seedFor(seed, 'filters'));
  const paths = new Set<string>();
  while (paths.size < count) {
    paths.add(
      pathOf('/c/api/v1/offers', random.pick(sites), {
        ...(random.chance(shares.country) && { country: random.pick(countries) }),
        ...(random.chance(shares.device) && { device: random.pick(devices) }),
        ...(random.chance(shares.category) && { category: random.pick(categories) }),
        ...(random.chance(shares.minPayout) && { min_payout: (random.below(500) / 100).toFixed(2) }),
        ...(random.chance(shares.offset) && { offset: String(random.below(10) * 25) }),
      }),
    );
  }
  return [...paths];
}

const filters = 400;
/** Sites whose default pages and reports are asked for among the filters. */
const askingSites = 10;

/** Requests as publishers make them: odd filters, and among them default pages and reports. */
export function mixedPaths(seed: number, sites: readonly Credentials[]): string[] {
  const pages = Object.values(defaultPages).flatMap((base) =>
    sites.slice(0, askingSites).map((site) => pathOf(base, site)),
  );
  // Spread over the others: reports of a large catalog, all at once, would be a measure of their own.
  const every = Math.floor(filters / pages.length);
  return randomFilters(seed, sites, filters).flatMap((path, index) => [
    path,
    ...(index % every === 0 ? pages.slice(index / every, index / every + 1) : []),
  ]);
}
