/** Requests that share one limit: at most `limit` within any `length`. */
export interface LimitBucket {
  name: string;
  limit: number;
  /** Milliseconds. */
  length: number;
}

/** A bucket at one moment, after the request that it was asked for. Moments are milliseconds since the epoch. */
export interface LimitStatus {
  /** True where the request has room. One that has not is not counted. */
  allowed: boolean;
  limit: number;
  remaining: number;
  /** Moment at which the oldest counted request leaves the window; the moment of reading where none is counted. */
  resetAt: number;
  /** Moment at which the next request has room. */
  freeAt: number;
}

/**
 * Counts requests in exact sliding windows. Kept in this process and its data directory by default; several
 * processes that share their limits ask Redis, hence the promises.
 */
export interface RateLimits {
  /** Counts a request where there is room for it. */
  consume(bucket: LimitBucket, now: number): LimitStatus | Promise<LimitStatus>;
  /** The same status without a request. */
  peek(bucket: LimitBucket, now: number): LimitStatus | Promise<LimitStatus>;
}

/** Limits that also take requests which somebody else has let in. */
export interface CountingLimits extends RateLimits {
  /** Counts a request, whatever room there is. */
  count(bucket: LimitBucket, now: number): void | Promise<void>;
}

/** Lengths of windows, milliseconds. */
export const minute = 60_000;
export const hour = 60 * minute;

/** Addresses that identified themselves wrongly and are counted: there may be any number of them. */
export const maxFailingAddresses = 10_000;

export function retryAfterHeader({ freeAt }: LimitStatus, now: number): Record<string, string> {
  return { 'retry-after': String(Math.max(1, Math.ceil((freeAt - now) / 1000))) };
}

/** Milliseconds between clearings of windows that ran empty. */
const sweepMilliseconds = 10_000;

interface Window {
  /** Moments of counted requests, oldest first. */
  times: number[];
  /** Index of the first one that has not left the window. */
  first: number;
  length: number;
}

/** Exact sliding windows in memory. */
export class SlidingWindows implements CountingLimits {
  readonly #windows = new Map<string, Window>();
  readonly #maxWindows: number;
  #sweptAt = Number.NEGATIVE_INFINITY;

  /**
   * `maxWindows`: how many windows are held; beyond that the one unused for longest is forgotten. For buckets that
   * anybody can make up.
   */
  constructor({ maxWindows = Number.POSITIVE_INFINITY }: { maxWindows?: number } = {}) {
    this.#maxWindows = maxWindows;
  }

  /** Number of windows that are held. */
  get size(): number {
    return this.#windows.size;
  }

  consume(bucket: LimitBucket, now: number): LimitStatus {
    this.#sweep(now);
    const window = this.#windowOf(bucket);
    evictExpired(window, now);
    if (window.times.length - window.first >= bucket.limit) return { ...statusOf(window, bucket, now), allowed: false };
    window.times.push(now);
    return { ...statusOf(window, bucket, now), allowed: true };
  }

  count(bucket: LimitBucket, now: number): void {
    this.#sweep(now);
    this.#windowOf(bucket).times.push(now);
  }

  /** Counts requests from before this process began, in any order. */
  restore(counted: Iterable<Pick<LimitBucket, 'name' | 'length'> & { at: number }>): void {
    for (const { name, length, at } of counted) this.#windowOf({ name, length }).times.push(at);
    for (const { times } of this.#windows.values()) times.sort((one, other) => one - other);
  }

  peek(bucket: LimitBucket, now: number): LimitStatus {
    const window = this.#windows.get(bucket.name) ?? { times: [], first: 0, length: bucket.length };
    evictExpired(window, now);
    return statusOf(window, bucket, now);
  }

  #windowOf({ name, length }: Pick<LimitBucket, 'name' | 'length'>): Window {
    const known = this.#windows.get(name);
    // Where all windows are kept, their order does not matter.
    if (known !== undefined && this.#maxWindows === Number.POSITIVE_INFINITY) return known;
    const window = known ?? { times: [], first: 0, length };
    // A Map keeps the order of insertion: what was just used goes to the end.
    this.#windows.delete(name);
    this.#windows.set(name, window);
    if (this.#windows.size > this.#maxWindows) {
      const [unused = ''] = this.#windows.keys();
      this.#windows.delete(unused);
    }
    return window;
  }

  #sweep(now: number): void {
    if (now >= this.#sweptAt && now - this.#sweptAt < sweepMilliseconds) return;
    this.#sweptAt = now;
    for (const [name, window] of this.#windows) {
      evictExpired(window, now);
      if (window.first === window.times.length) this.#windows.delete(name);
    }
  }
}

function evictExpired(window: Window, now: number): void {
  const { times, length } = window;
  // Moments beyond a whole window ahead were counted before a clock was set back: nobody shall wait for them.
  while (times.length > window.first && (times.at(-1) ?? 0) - now >= length) times.pop();
  while (window.first < times.length && now - (times[window.first] ?? 0) >= length) window.first++;
  // Moving the rest to the front costs as much as it is long: done when at least as much has left.
  if (window.first > times.length / 2) {
    times.splice(0, window.first);
    window.first = 0;
  }
}

function statusOf({ times, first }: Window, { limit, length }: LimitBucket, now: number): LimitStatus {
  const counted = times.length - first;
  const oldest = times[first];
  // Where a limit was lowered, more than one request has to leave before the next has room.
  const blocking = counted >= limit ? times[first + counted - limit] : undefined;
  return {
    allowed: counted < limit,
    limit,
    remaining: Math.max(0, limit - counted),
    resetAt: oldest === undefined ? now : oldest + length,
    freeAt: blocking === undefined ? now : blocking + length,
  };
}
