import type { DataDirectory } from '../kit/config/data-directory.ts';
import { readSettings } from '../kit/config/settings.ts';
import { realEffects, type Effects } from '../kit/files/effects.ts';
import { readSites, type Site } from '../kit/sites/sites.ts';
import { isLockHeld } from '../kit/files/process-lock.ts';
import { momentOfMilliseconds } from '../kit/time/moment.ts';
import { isShared, openStore } from './open-store.ts';
import { isPaused } from './rules/circuit-breaker.ts';

/** Reason of a postback that waits for an earlier event of its click. */
export const earlierEvent = 'an earlier event of its click';

/** What a pass would find in the store. */
interface PassOutlook {
  /** Postbacks that it would deliver now, by site. */
  due: { site_key: string; due: number; waits_for: string }[];
  /** True where it would free what a killed pass had claimed, or bring forward what waits too long. */
  mends: boolean;
}

/** Postbacks that a pass would deliver now, by site. */
export async function duePostbacks(data: DataDirectory, effects: Effects = realEffects): Promise<PassOutlook['due']> {
  return (await lookAhead(data, effects)).due;
}

/**
 * Returns whether a pass has anything to do: to send, to free what a killed one had claimed, or to bring forward what
 * waits too long since the clock went back. Nothing but a pass does these.
 */
export async function isPassDue(data: DataDirectory, effects: Effects = realEffects): Promise<boolean> {
  const { due, mends } = await lookAhead(data, effects);
  return mends || due.some(({ waits_for }) => waits_for === '');
}

async function lookAhead(data: DataDirectory, effects: Effects): Promise<PassOutlook> {
  const sites = new Map(readSites(data.sitesFile).sites.map((site) => [site.site_key, site]));
  const settings = readSettings(data);
  const store = await openStore(data, settings);
  try {
    const now = effects.now();
    const circuits = await store.openCircuits();
    const isPassUnderWay = !isShared(settings) && isLockHeld(data.deliveryLockFile);
    const abandoned = isPassUnderWay ? [] : await store.abandonedClaims();
    const found = new Map((await store.due(now)).map(({ siteKey, ...counts }) => [siteKey, counts]));
    for (const { siteKey, claimed } of abandoned) {
      const { due, ready } = found.get(siteKey) ?? { due: 0, ready: 0 };
      found.set(siteKey, { due: due + claimed, ready: ready + claimed });
    }
    return {
      due: [...found].map(([siteKey, { due, ready }]) => {
        const circuit = circuits.get(siteKey);
        const pausedUntil = circuit !== undefined && isPaused(circuit, now) ? circuit.pausedUntil : undefined;
        return { site_key: siteKey, due, waits_for: waitsFor(sites.get(siteKey), pausedUntil, ready > 0) };
      }),
      mends: abandoned.length > 0 || (await store.waitsTooLong(now)),
    };
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
