import type { Site } from '../../kit/sites/sites.ts';
import type { LimitBucket, CountingLimits, LimitStatus, RateLimits } from '../../kit/http/sliding-windows.ts';
import type { Logger } from 'pino';
import type { DataDirectory } from '../../kit/config/data-directory.ts';
import { makePrivateFolder } from '../../kit/files/effects.ts';
import { CountedRequests, StoredWindows } from './stored-windows.ts';
import { hour, maxFailingAddresses, minute, SlidingWindows } from '../../kit/http/sliding-windows.ts';

/** Rule by which an operation's requests are limited. */
export interface LimitRule {
  /** `site`: one window per site; `address`: one per site and client, of whom there may be any number. */
  scope: 'site' | 'address';
  /** True where requests count; else they only show what is left. */
  counted: boolean;
  bucket(site: Site, clientAddress: () => string): LimitBucket;
}

/** Requests of one site within an hour. Endpoints that name the same bucket share it. */
export function hourly(name: 'B offers' | 'C offers' | 'C reports'): LimitRule {
  // A site is another object when `sites.json` has changed.
  const buckets = new WeakMap<Site, LimitBucket>();
  return {
    scope: 'site',
    counted: true,
    bucket(site) {
      let bucket = buckets.get(site);
      if (bucket === undefined) {
        bucket = { name: `${name} ${site.site_key}`, limit: site.rate_limit_per_hour, length: hour };
        buckets.set(site, bucket);
      }
      return bucket;
    },
  };
}

/** What a site asks of its own records: a few pages of each a run of its pipeline; each request takes a query. */
export const hourlyRecords: LimitRule = {
  scope: 'site',
  counted: true,
  bucket: (site) => ({ name: `C records ${site.site_key}`, limit: 60, length: hour }),
};

/** What a site orders: a request of ours, or one more change in the store of deliveries. */
export const hourlyOrders: LimitRule = {
  scope: 'site',
  counted: true,
  bucket: (site) => ({ name: `C orders ${site.site_key}`, limit: 60, length: hour }),
};

/** Pages that people of a site look at: a query each. */
export const hourlyPortal: LimitRule = {
  scope: 'site',
  counted: true,
  bucket: (site) => ({ name: `portal ${site.site_key}`, limit: 600, length: hour }),
};

/** Variant A: a key alone opens it, so a site's limit must not be one that strangers can use up. */
export const perMinuteAndClient: LimitRule = {
  scope: 'address',
  counted: true,
  bucket: (site, clientAddress) => ({ name: `A ${clientAddress()} ${site.site_key}`, limit: 600, length: minute }),
};

/** A rule whose requests show its bucket and do not count. */
export function untouched(rule: LimitRule): LimitRule {
  return { ...rule, counted: false };
}

/** Failed identifications from one address: enough for a mistake in a script, too few to guess a secret. */
function failedIdentifications(clientAddress: string): LimitBucket {
  return { name: clientAddress, limit: 60, length: minute };
}

/** Whole seconds, and at least one, until the next request has room. */
export function limitHeaders({ limit, remaining, resetAt }: LimitStatus): Record<string, string> {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(Math.ceil(resetAt / 1000)),
  };
}

/** Windows of clients, of whom there may be any number, are bounded; those of sites are as many as `sites.json` has. */
const maxClients = 100_000;

/** Requests counted by this server alone. */
export interface LocalCounters {
  site: CountingLimits;
  address: CountingLimits;
  failure: CountingLimits;
  close: () => void;
}

/**
 * Opens the counters of this process and its data directory. Failures by address are in memory only: they are gone in a
 * minute. Throws as `CountedRequests` does.
 */
export function openLocalCounters({ serve, rateLimits }: DataDirectory, now: number, log: Logger): LocalCounters {
  const requests = new CountedRequests(rateLimits, now, log, () => {
    for (const folder of [serve, rateLimits]) makePrivateFolder(folder);
  });
  return {
    site: new StoredWindows('site', requests, now),
    address: new StoredWindows('address', requests, now, { maxWindows: maxClients }),
    failure: new SlidingWindows({ maxWindows: maxFailingAddresses }),
    close: () => requests.close(),
  };
}

/** The limits of all requests. */
export class RequestLimits {
  readonly #byScope: Record<LimitRule['scope'], RateLimits>;
  readonly #failures: RateLimits;
  readonly #close: () => void;

  constructor(byScope: Record<LimitRule['scope'], RateLimits>, failures: RateLimits, close: () => void) {
    this.#byScope = byScope;
    this.#failures = failures;
    this.#close = close;
  }

  /** Limits of one server, in its process and its data directory. */
  static embedded(data: DataDirectory, now: number, log: Logger): RequestLimits {
    const { failure, close, ...byScope } = openLocalCounters(data, now, log);
    return new RequestLimits(byScope, failure, close);
  }

  /** The status of a site's bucket after this request, which counts where the rule and the caller say so. */
  check(
    rule: LimitRule,
    site: Site,
    clientAddress: () => string,
    now: number,
    counts: boolean,
  ): LimitStatus | Promise<LimitStatus> {
    const limits = this.#byScope[rule.scope];
    const bucket = rule.bucket(site, clientAddress);
    return counts && rule.counted ? limits.consume(bucket, now) : limits.peek(bucket, now);
  }

  /** Counts a failed identification against the address that it came from, never against the site that it named. */
  countFailure(clientAddress: string, now: number): LimitStatus | Promise<LimitStatus> {
    return this.#failures.consume(failedIdentifications(clientAddress), now);
  }

  close(): void {
    this.#close();
  }
}
