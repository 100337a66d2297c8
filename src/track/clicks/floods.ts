import { RecentTexts } from './recent-texts.ts';

/** Of one site from one address. More is no person, and would spend an advertiser's money. */
const mostClicks = 60;
/** Milliseconds. */
const within = 60_000;
/** Sites and addresses with several clicks in a generation. Beyond that the older one is forgotten early. */
const mostKept = 200_000;

/**
 * Clicks of the last minute by site and address, exact. Nearly every one of them is the only one, of which no more than
 * its moment is kept: the sliding windows of rate limits take five times as long as all else of a click for that.
 */
export class Floods {
  /** Who has clicked once. */
  readonly #once = new RecentTexts(within);
  /** Moments of clicks of others, oldest first, in two generations: one of before the last minute goes as a whole. */
  #young = new Map<string, number[]>();
  #old = new Map<string, number[]>();
  #turnedAt = Number.NEGATIVE_INFINITY;

  /** Counts a click where there is room for it; else gives the milliseconds after which there is. */
  count(key: string, now: number): number | undefined {
    let moments = this.#young.get(key) ?? this.#old.get(key);
    if (moments === undefined) {
      const only = this.#once.find(key, now);
      if (only === undefined) {
        this.#once.add(key, { at: now, text: '' });
        return undefined;
      }
      moments = [only.at];
    }
    this.#turn(now);
    moments = recent(moments, now);
    const first = moments[0];
    const isFull = first !== undefined && moments.length >= mostClicks;
    if (!isFull) moments.push(now);
    this.#young.set(key, moments);
    return isFull ? within - (now - first) : undefined;
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
