import type { Settings } from '../kit/config/settings.ts';
import { durationText } from '../kit/time/age.ts';
import { refusedAddressCure } from './rules/outcome.ts';
import type { FailingSite } from './store/delivery-rows.ts';
import type { QueryStore } from './store/query-store.ts';

/** A site that takes no postback. */
export interface SilentSite {
  site_key: string;
  /** Seconds since it last took one, or since the first that failed was written. */
  silent_seconds: number;
  waiting: number;
  last_error: string;
  last_status: number | null;
}

/** Seconds: a receiver that is started again misses as much. */
const shortSilence = 60;
/** Minutes: a site whose receiver is away for longer costs its users their rewards. */
const usualSilence = 60;

/**
 * Lists the sites with postbacks that failed and wait, the longest silence first. `now` in milliseconds since the
 * epoch.
 */
export async function readSilentSites(store: QueryStore, now: number): Promise<SilentSite[]> {
  return (await store.failingSites(now))
    .map((site) => silentSite(site, now))
    .filter(({ silent_seconds }) => silent_seconds > shortSilence)
    .toSorted((one, other) => other.silent_seconds - one.silent_seconds);
}

function silentSite(failing: FailingSite, now: number): SilentSite {
  const { siteKey, waiting, failingSince, lastDeliveredAt, lastError, lastStatus } = failing;
  // A moment ahead says nothing: it was written by a clock that has gone back since.
  const since = [failingSince, lastDeliveredAt].filter((moment) => moment !== null && moment <= now) as number[];
  return {
    site_key: siteKey,
    silent_seconds: since.length === 0 ? 0 : Math.round((now - Math.max(...since)) / 1000),
    waiting,
    last_error: lastError,
    last_status: lastStatus,
  };
}

/** Minutes that a site may be silent. */
export function allowedSilence({ freshness }: Pick<Settings, 'freshness'>): number {
  return freshness.postbacks_minutes ?? usualSilence;
}

/** Such as "has taken nothing for 18 min: 28 wait, last refused_address". */
export function describeSilence({ silent_seconds, waiting, last_error, last_status }: SilentSite): string {
  const cure = last_error === 'refused_address' ? ` (${refusedAddressCure})` : '';
  const last = last_status === null ? `${last_error}${cure}` : `HTTP ${last_status}`;
  return `has taken nothing for ${durationText(silent_seconds)}: ${waiting} ${waiting === 1 ? 'waits' : 'wait'}, last ${last}`;
}
