import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DataDirectory } from '../../../src/kit/config/data-directory.ts';
import { realEffects } from '../../../src/kit/files/effects.ts';
import { writeRoutes } from '../../../src/pipeline/routes/publish-routes.ts';
import type { Route } from '../../../src/pipeline/routes/routes-file.ts';
import { countryFile } from '../../tracker/agents/country-file.ts';

/** Of the network whose links are clicked. */
export const trackedOffers = 500;
export const trackedSites = 20;

/** A data directory as a refresh leaves it for the tracker: offers for some countries, others for all, with caps. */
export async function writeTrackedData(root: string, durability: 'power' | 'process'): Promise<DataDirectory> {
  const data = new DataDirectory(root);
  await mkdir(data.root, { recursive: true });
  const sites = Array.from({ length: trackedSites }, (_, index) => ({
    site_key: `site-${index}`,
    site_secret: `a-secret-of-site-${index}-0123456789`,
  }));
  await writeFile(data.sitesFile, JSON.stringify({ sites }), { mode: 0o600 });
  const country_database = join(root, 'countries.mmdb');
  const codes = ['US', 'DE', 'FR', 'BR'];
  const countries = Array.from({ length: 224 }, (_, first) => [first, codes[first % codes.length] as string] as const);
  await writeFile(country_database, countryFile(Object.fromEntries(countries)));
  await writeFile(
    data.settingsFile,
    JSON.stringify({ trusted_proxies: ['127.0.0.1'], tracker: { durability, country_database } }),
  );
  const lines = Array.from({ length: trackedOffers }, (_, index) =>
    Buffer.from(`${JSON.stringify(routeOf(1 + index, codes))}\n`),
  );
  const about = { snapshot_id: 'bench', as_of: '2026-01-31T23:55:00Z' };
  await writeRoutes(data, about, lines, realEffects.files);
  return data;
}

function routeOf(offer_id: number, codes: string[]): Route {
  return {
    offer_id,
    source: 'north',
    external_id: `n-${offer_id}`,
    status: 'active',
    payout: '1.20',
    events: [],
    destination_url: `https://advertiser.example/offers/${offer_id}/landing?tid={click_id}&publisher={site_key}&sub={sub1}`,
    countries: offer_id % 3 === 0 ? codes : [],
    devices: offer_id % 2 === 0 ? ['android', 'ios', 'desktop'] : [],
    categories: [],
    formats: ['offerwall'],
    android_min_os: offer_id % 4 === 0 ? '8' : null,
    ios_min_os: offer_id % 4 === 0 ? '15.0' : null,
    daily_cap: offer_id % 5 === 0 ? 100_000 : null,
    daily_click_cap: offer_id % 5 === 1 ? 1_000_000_000 : null,
  };
}
