import { RecentTexts } from './recent-texts.ts';

/** The same click again within so long is the first one. Milliseconds. */
const sameWithin = 5000;

/** The first of several that are the same. */
export interface FirstClick {
  at: number;
  /** Where it is sent once it is recorded. */
  location: string;
  /** Undefined where it is recorded already. */
  recorded?: Promise<void>;
}

/** Clicks of the last five seconds, so that a double tap is one click: in this process, and not over a restart. */
export class Repeats {
  /** Those that are not recorded yet. */
  readonly #waiting = new Map<string, FirstClick>();
  /** Where those were sent that are. */
  readonly #recorded = new RecentTexts(sameWithin);

  /** The same click, where it came just now. */
  find(key: string, now: number): FirstClick | undefined {
    const waiting = this.#waiting.get(key);
    // One that lies ahead is of before the clock was set back.
    if (waiting !== undefined) return now < waiting.at || now - waiting.at >= sameWithin ? undefined : waiting;
    const recorded = this.#recorded.find(key, now);
    return recorded && { at: recorded.at, location: recorded.text };
  }

  add(key: string, first: FirstClick): void {
    this.#waiting.set(key, first);
  }

  /** For one that is on the disk. */
  keep(key: string, first: FirstClick): void {
    this.forget(key, first);
    this.#recorded.add(key, { at: first.at, text: first.location });
  }

  /** For one that was not recorded. */
  forget(key: string, first: FirstClick): void {
    if (this.#waiting.get(key) === first) this.#waiting.delete(key);
  }
}
