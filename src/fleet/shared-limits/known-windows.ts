import type { Bucket, LimitStatus } from '../../kit/http/sliding-windows.ts';

/** A counted request as one server knows it. */
export interface KnownRequest {
  id: string;
  /** Milliseconds since the epoch, by Redis' clock. */
  at: number;
  /** This server let it in by itself, and Redis has not counted it yet. */
  alone: boolean;
}

/** Among whom the room is parted while Redis is away. */
export interface Parts {
  servers: number;
  /** So many of them may not have heard of what this one has, and may let in as much as ever is their part. */
  apart: number;
}

interface Window {
  length: number;
  /** Oldest first; those before `first` have left. */
  requests: KnownRequest[];
  first: number;
  ids: Set<string>;
  /** How many of those in the window this server let in alone. */
  alone: number;
  /** What is known to be full: until then, at this limit, nothing more has room. */
  full: { limit: number; apart: number; until: number } | undefined;
}

/** How often windows that ran empty are cleared away. Milliseconds. */
const sweepMilliseconds = 10_000;

/**
 * The windows of all servers as far as this one has heard of them, and what it may let in by itself while Redis is
 * away: of the room that everybody's earlier requests leave, one part of as many as there are servers. All have heard
 * of the same requests, so their parts together are never more than the room; as those requests leave their windows,
 * the part grows to the limit divided by the servers.
 */
export class KnownWindows {
  readonly #windows = new Map<string, Window>();
  readonly #maxWindows: number;
  #sweptAt = 0;

  /** `maxWindows`: beyond that the one unused for longest is forgotten. */
  constructor({ maxWindows = Number.POSITIVE_INFINITY }: { maxWindows?: number } = {}) {
    this.#maxWindows = maxWindows;
  }

  /** Counts a request; false where it is known. */
  add({ name, length }: Pick<Bucket, 'name' | 'length'>, request: KnownRequest, now: number): boolean {
    this.#sweep(now);
    const window = this.#windowOf(name, length);
    evictExpired(window, now);
    if (window.ids.has(request.id)) return false;
    insert(window, { ...request });
    return true;
  }

  /** Counts a request of this name where this server's part has room for it. */
  consume(bucket: Bucket, id: string, now: number, parts: Parts): LimitStatus {
    this.#sweep(now);
    const window = this.#windowOf(bucket.name, bucket.length);
    const status = statusOf(window, bucket, now, parts);
    if (!status.allowed) return status;
    if (!window.ids.has(id)) insert(window, { id, at: now, alone: true });
    return { ...statusOf(window, bucket, now, parts), allowed: true };
  }

  /** The same status without a request. */
  peek(bucket: Bucket, now: number, parts: Parts): LimitStatus {
    return statusOf(this.#windows.get(bucket.name) ?? emptyWindow(bucket.length), bucket, now, parts);
  }

  /** Of all windows. */
  names(): Iterable<string> {
    return this.#windows.keys();
  }

  /** Those of a window that have not left it. */
  requests(name: string, now: number): KnownRequest[] {
    const window = this.#windows.get(name);
    if (window === undefined) return [];
    evictExpired(window, now);
    return window.requests.slice(window.first);
  }

  /** What was let in alone, by window. From now on it counts as known to all. */
  handOver(now: number): Map<string, KnownRequest[]> {
    const handed = new Map<string, KnownRequest[]>();
    for (const [name, window] of this.#windows) {
      evictExpired(window, now);
      if (window.alone === 0) continue;
      const alone = window.requests.slice(window.first).filter((request) => request.alone);
      for (const request of alone) request.alone = false;
      window.alone = 0;
      window.full = undefined;
      handed.set(name, alone);
    }
    return handed;
  }

  #windowOf(name: string, length: number): Window {
    const window = this.#windows.get(name) ?? emptyWindow(length);
    // A Map keeps the order of insertion: what was just used goes to the end.
    if (this.#maxWindows !== Number.POSITIVE_INFINITY) this.#windows.delete(name);
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
      if (window.ids.size === 0) this.#windows.delete(name);
    }
  }
}

function emptyWindow(length: number): Window {
  return { length, requests: [], first: 0, ids: new Set(), alone: 0, full: undefined };
}

function insert(window: Window, request: KnownRequest): void {
  const { requests } = window;
  // Nearly always at the end; what another server let in alone is told later.
  let place = requests.length;
  while (place > window.first && (requests[place - 1] as KnownRequest).at > request.at) place--;
  if (place === requests.length) requests.push(request);
  else requests.splice(place, 0, request);
  window.ids.add(request.id);
  if (request.alone) window.alone++;
  window.full = undefined;
}

function evictExpired(window: Window, now: number): void {
  const { requests, length } = window;
  const forget = (request: KnownRequest) => {
    window.ids.delete(request.id);
    if (request.alone) window.alone--;
  };
  // Moments beyond a whole window ahead were counted before a clock was set back: nobody shall wait for them.
  for (;;) {
    const last = requests.at(-1);
    if (last === undefined || requests.length === window.first || last.at - now < length) break;
    forget(last);
    requests.pop();
  }
  for (;;) {
    const oldest = requests[window.first];
    if (oldest === undefined || now - oldest.at < length) break;
    forget(oldest);
    window.first++;
  }
  // Moving the rest to the front costs as much as it is long: done when at least as much has left.
  if (window.first > requests.length / 2) {
    requests.splice(0, window.first);
    window.first = 0;
  }
}

function statusOf(window: Window, bucket: Bucket, now: number, parts: Parts): LimitStatus {
  evictExpired(window, now);
  const { limit, length } = bucket;
  const left = leftOf(limit, window.ids.size - window.alone, window.alone, parts);
  const oldest = window.requests[window.first];
  return {
    allowed: left > 0,
    limit,
    remaining: Math.max(0, left),
    resetAt: oldest === undefined ? now : oldest.at + length,
    freeAt: left > 0 ? now : freeAt(window, bucket, now, parts),
  };
}

/** What is left of this server's part, where `shared` requests are known to all and it let in `alone` by itself. */
function leftOf(limit: number, shared: number, alone: number, { servers, apart }: Parts): number {
  const share = Math.floor(limit / servers);
  const room = limit - shared - apart * share;
  return Math.min(share, Math.floor(room / (servers - apart))) - alone;
}

/** When so many have left that there is room. Found once for all requests that are refused meanwhile. */
function freeAt(window: Window, { limit, length }: Bucket, now: number, parts: Parts): number {
  const { full } = window;
  if (full?.limit === limit && full.apart === parts.apart && full.until > now) return full.until;
  let { alone } = window;
  let shared = window.ids.size - alone;
  // A limit smaller than the number of servers has no part for each.
  let until = now + length;
  for (let place = window.first; place < window.requests.length; place++) {
    const request = window.requests[place] as KnownRequest;
    if (request.alone) alone--;
    else shared--;
    if (leftOf(limit, shared, alone, parts) <= 0) continue;
    until = request.at + length;
    break;
  }
  window.full = { limit, apart: parts.apart, until };
  return until;
}
