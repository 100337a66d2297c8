import { randomInt } from 'node:crypto';

/** A key lies in one of so many places side by side; where all are taken, the one that came first is forgotten. */
const placesOfKey = 8;

/**
 * Keys of the last while, each with the moment at which it came last, in a table of numbers that has its full size from
 * the beginning: nothing is ever moved or collected. As objects, a hundred thousand of them would be most of what
 * garbage collection goes through, and clicks would wait for it.
 */
export class RecentKeys {
  readonly #within: number;
  /** The bits of a key that tell the first of its places. */
  readonly #firstPlaces: number;
  /** For each place the key, 0 where there is none, and its moment. */
  readonly #table: Float64Array;

  /** `within`: for how long a key is found, in milliseconds. `places`: how many keys have room, a power of two. */
  constructor(within: number, places: number) {
    this.#within = within;
    this.#firstPlaces = places - placesOfKey;
    this.#table = new Float64Array(2 * places);
  }

  /** The place of a key that came lately. `key`: from `keyOf`. */
  find(key: number, now: number): number | undefined {
    const place = this.#placeOf(key);
    return place !== undefined && this.#isRecent(place, now) ? place : undefined;
  }

  /** When the key at a place came last. */
  momentAt(place: number): number {
    return this.#table[2 * place + 1] as number;
  }

  /** Keeps that a key comes now, and gives its place. */
  put(key: number, now: number): number {
    const place = this.#placeOf(key) ?? this.#placeToTake(key, now);
    this.#table[2 * place] = key;
    this.#table[2 * place + 1] = now;
    return place;
  }

  forget(key: number): void {
    const place = this.#placeOf(key);
    if (place !== undefined) this.#table[2 * place + 1] = Number.NEGATIVE_INFINITY;
  }

  #placeOf(key: number): number | undefined {
    const first = key & this.#firstPlaces;
    for (let place = first; place < first + placesOfKey; place++) if (this.#table[2 * place] === key) return place;
    return undefined;
  }

  /** One that is free, or else the oldest key's. */
  #placeToTake(key: number, now: number): number {
    const first = key & this.#firstPlaces;
    let oldest = first;
    for (let place = first; place < first + placesOfKey; place++) {
      if (!this.#isRecent(place, now)) return place;
      if (this.momentAt(place) < this.momentAt(oldest)) oldest = place;
    }
    return oldest;
  }

  /** One that lies ahead is of before the clock was set back. */
  #isRecent(place: number, now: number): boolean {
    const moment = this.momentAt(place);
    return moment <= now && now - moment < this.#within;
  }
}

/** Others in every process, so that nobody can make up texts that have the same key. */
const lowSeed = randomInt(2 ** 32);
const highSeed = randomInt(2 ** 32);

/**
 * A number of 53 bits that stands for a text: two hashes side by side, mixed at the end. Where a hundred thousand texts
 * are known, one text in a hundred thousand million has the key of another.
 */
export function keyOf(text: string): number {
  let low = lowSeed;
  let high = highSeed;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    low = Math.imul(low ^ code, 0x9e3779b1);
    high = Math.imul(high ^ code, 0x5f356495);
  }
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  // 0 stands for no key.
  return (high >>> 11) * 2 ** 32 + (low >>> 0) || 1;
}
