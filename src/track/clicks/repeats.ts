/** The same click again within so long is the first one. Milliseconds. */
const sameWithin = 5000;
/** More in five seconds than one machine can answer. */
const mostKept = 200_000;

/** The first of several that are the same. */
export interface FirstClick {
  at: number;
  /** Where it is sent once it is recorded. */
  location: string;
  recorded: Promise<void>;
}

/** Clicks of the last five seconds, so that a double tap is one click: in this process, and not over a restart. */
export class Repeats {
  /** Two generations: the older one is dropped as a whole, so that nothing has to be looked for. */
  #young = new Map<string, FirstClick>();
  #old = new Map<string, FirstClick>();
  #turnedAt = Number.NEGATIVE_INFINITY;

  /** The same click, where it came just now. */
  find(key: string, now: number): FirstClick | undefined {
    const first = this.#young.get(key) ?? this.#old.get(key);
    // One that lies ahead is of before the clock was set back.
    return first === undefined || now < first.at || now - first.at >= sameWithin ? undefined : first;
  }

  add(key: string, first: FirstClick): void {
    const { at: now } = first;
    if (now < this.#turnedAt || now - this.#turnedAt >= sameWithin || this.#young.size >= mostKept) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#turnedAt = now;
    }
    this.#young.set(key, first);
  }

  /** For one that was not recorded. */
  forget(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }
}
