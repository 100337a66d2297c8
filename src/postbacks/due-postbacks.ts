import type { DataDirectory } from '../kit/config/data-directory.ts';
import { readSettings } from '../kit/config/settings.ts';
import { realEffects, type Effects } from '../kit/files/effects.ts';
import { readSites, type Site } from '../kit/sites/sites.ts';
import { momentOfMilliseconds } from '../kit/time/moment.ts';
import { openStore } from './open-store.ts';

/** Reason of a postback that waits for an earlier event of its click. */
export const earlierEvent = 'an earlier event of its click';

/** Postbacks that a pass would deliver now, by site. */
export async function duePostbacks(
  data: DataDirectory,
  effects: Effects = realEffects,
): Promise<{ site_key: string; due: number; waits_for: string }[]> {
  const sites = new Map(readSites(data.sitesFile).sites.map((site) => [site.site_key, site]));
  const store = await openStore(data, readSettings(data));
  try {
    const now = effects.now();
    const circuits = await store.openCircuits();
    const sitesWithDue = await store.due(now);
    return sitesWithDue.map(({ siteKey, due, ready }) => {
      const pausedUntil = circuits.get(siteKey)?.pausedUntil ?? now;
      return {
        site_key: siteKey,
        due,
        waits_for: waitsFor(sites.get(siteKey), pausedUntil > now ? pausedUntil : undefined, ready > 0),
      };
    });
  } finally {
    await store.close();
  }
}

function waitsFor(site: Site | undefined, pausedUntil: number | undefined, isReady: boolean): string {
  if (site === undefined) return 'a site in sites.json';
  if (site.postback === undefined) return 'a postback address';
  if (pausedUntil !== undefined) return momentOfMilliseconds(pausedUntil);
  return isReady ? '' : earlierEvent;
}
