import { RecentKeys } from './recent-keys.ts';
import { RecentTexts } from './recent-texts.ts';

/** The same click again within so long is the first one. Milliseconds. */
const sameWithin = 5000;
/** Clicks within that time have so much room, of 24 bytes each besides their addresses. */
const mostKnown = 2 ** 18;

/** The first of several that are the same. */
export interface FirstClick {
  /** Where it is sent once it is recorded. */
  location: string;
  /** Undefined where it is recorded already. */
  recorded: Promise<void> | undefined;
}

/** Clicks that are recorded together, which one promise tells for all of them. */
interface WaitingClicks {
  readonly recorded: Promise<void>;
  readonly keys: number[];
}

/**
 * Clicks of the last five seconds, so that a double tap is one click: in this process, and not over a restart. Those
 * that wait for the disk are in a list that is asked only where a click is the same: a map whose entries come and go
 * so fast leaves tables behind that keep garbage collection at work.
 */
export class Repeats {
  readonly #known = new RecentKeys(sameWithin, mostKnown);
  /** Of each place of a known click, where its address is. */
  readonly #addresses = new Float64Array(mostKnown);
  readonly #texts = new RecentTexts(sameWithin);
  #waiting: readonly WaitingClicks[] = [];

  /** The same click, where it came just now. `key`: from `keyOf`. */
  find(key: number, now: number): FirstClick | undefined {
    const place = this.#known.find(key, now);
    if (place === undefined) return undefined;
    const location = this.#texts.read(this.#addresses[place] as number);
    if (location === undefined) return undefined;
    const waiting = this.#waiting.findLast(({ keys }) => keys.includes(key));
    return { location, recorded: waiting?.recorded };
  }

  /** Keeps a click until `recorded` says that it was not recorded, or for as long as it counts. */
  add(key: number, at: number, location: string, recorded: Promise<void>): void {
    this.#addresses[this.#known.put(key, at)] = this.#texts.keep(location, at);
    const newest = this.#waiting.at(-1);
    if (newest?.recorded === recorded) newest.keys.push(key);
    else this.#await({ recorded, keys: [key] });
  }

  #await(clicks: WaitingClicks): void {
    this.#waiting = [...this.#waiting, clicks];
    const settled = () => (this.#waiting = this.#waiting.filter((each) => each !== clicks));
    clicks.recorded.then(settled, () => {
      settled();
      for (const key of clicks.keys) this.#known.forget(key);
    });
  }
}
