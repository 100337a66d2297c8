import { LRUCache } from 'lru-cache';
import { addressGroup } from '../../kit/http/client-address.ts';

/** Clicks of one site from one address. More are no person's, and would spend an advertiser's money. */
const maxClicks = 60;
/** Milliseconds. */
const within = 60_000;
/**
 * Sites and addresses that are counted; beyond that the one that clicked longest ago is forgotten, which is none that
 * clicks each second.
 */
const maxKnown = 50_000;

/** Bounds the clicks of one site from one address, IPv6 by its /64. Kept in memory: a restart forgets them. */
export class ClickRateLimit {
  /** Moments of counted clicks, oldest first, in milliseconds since the epoch. */
  readonly #clicks = new LRUCache<string, number[]>({ max: maxKnown });

  /** Counts a click where there is room for it; else returns the milliseconds until there is. */
  count(siteKey: string, address: string, now: number): number | undefined {
    const key = `${siteKey}\n${addressGroup(address)}`;
    // Moments ahead of now were counted before the clock was set back.
    const recent = (this.#clicks.get(key) ?? []).filter((moment) => moment <= now && now - moment < within);
    const [oldest] = recent;
    if (oldest !== undefined && recent.length >= maxClicks) return within - (now - oldest);
    this.#clicks.set(key, [...recent, now]);
    return undefined;
  }
}
