import { RecentKeys } from './recent-keys.ts';

/** Of one site from one address. More is no person, and would spend an advertiser's money. */
const mostClicks = 60;
/** Milliseconds. */
const within = 60_000;
/** Sites and addresses that click within a minute have so much room, of 16 bytes each. */
const mostKnown = 2 ** 19;
/** Those with several clicks, in a generation. Beyond that the older one is forgotten early. */
const mostKept = 200_000;

/**
 * Clicks of the last minute by site and address, exact. Nearly every one of them is the only one, of which no more than
 * its moment is kept: the sliding windows of rate limits take five times as long as all else of a click for that.
 */
export class Floods {
  /** Who has clicked, and when last. */
  readonly #known = new RecentKeys(within, mostKnown);
  /** Moments of those with several, oldest first, in two generations: one of before the last minute goes as a whole. */
  #young = new Map<number, number[]>();
  #old = new Map<number, number[]>();
  #turnedAt = Number.NEGATIVE_INFINITY;

  /** Counts a click where there is room for it; else gives the milliseconds until there is. `key`: from `keyOf`. */
  count(key: number, now: number): number | undefined {
    const place = this.#known.find(key, now);
    if (place !== undefined) {
      this.#turn(now);
      const moments = recent(this.#young.get(key) ?? this.#old.get(key) ?? [], now);
      const last = this.#known.momentAt(place);
      if (moments.at(-1) !== last) moments.push(last);
      if (moments.length >= mostClicks) return within - (now - (moments[0] as number));
      moments.push(now);
      this.#young.set(key, moments);
    }
    this.#known.put(key, now);
    return undefined;
  }

  #turn(now: number): void {
    if (now >= this.#turnedAt && now - this.#turnedAt < within && this.#young.size < mostKept) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#turnedAt = now;
  }
}

/** Those ahead of the clock were counted before that was set back: nobody shall wait for them. */
function recent(moments: readonly number[], now: number): number[] {
  return moments.filter((moment) => moment <= now && now - moment < within);
}
