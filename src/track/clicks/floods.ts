/** Of one site from one address. More is no person, and would spend an advertiser's money. */
const mostClicks = 60;
/** Milliseconds. */
const within = 60_000;
/** Sites and addresses counted in a generation. Beyond that the older one is forgotten early. */
const mostKept = 200_000;

/**
 * Clicks of the last minute by site and address, exact. Nearly every one of them is new: the sliding windows of rate
 * limits, which keep their keys in the order of use, take five times as long as all else of a click for that.
 */
export class Floods {
  /** Moments of clicks, oldest first, in two generations: one that has not been seen for a minute goes as a whole. */
  #young = new Map<string, number[]>();
  #old = new Map<string, number[]>();
  #turnedAt = Number.NEGATIVE_INFINITY;

  /** Counts a click where there is room for it; else gives the milliseconds after which there is. */
  count(key: string, now: number): number | undefined {
    if (now < this.#turnedAt || now - this.#turnedAt >= within || this.#young.size >= mostKept) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#turnedAt = now;
    }
    const young = this.#young.get(key);
    if (young !== undefined && young.length < mostClicks) {
      young.push(now);
      return undefined;
    }
    const moments = recent(young ?? this.#old.get(key), now);
    const first = moments[0];
    const isFull = first !== undefined && moments.length >= mostClicks;
    // An array that is pushed to takes room for sixteen more, and nearly all keys have one moment.
    this.#young.set(key, isFull ? moments : moments.concat(now));
    return isFull ? within - (now - first) : undefined;
  }
}

/** Those ahead of the clock were counted before that was set back: nobody shall wait for them. */
function recent(moments: readonly number[] | undefined, now: number): number[] {
  return moments?.filter((moment) => moment <= now && now - moment < within) ?? [];
}
