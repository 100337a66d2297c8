import type { Site } from '../../sites/sites.ts';

/** Requests that share one limit: at most `limit` within any `length`. */
export interface Bucket {
  name: string;
  limit: number;
  /** Milliseconds. */
  length: number;
}

/** A bucket at one moment, after the request that it was asked for. Moments are milliseconds since the epoch. */
export interface LimitStatus {
  /** Whether the request has room. One that has not is not counted. */
  allowed: boolean;
  limit: number;
  remaining: number;
  /** When the oldest counted request leaves the window; the moment of reading where none is counted. */
  resetAt: number;
  /** When the next request has room. */
  freeAt: number;
}

/**
 * Counts requests in exact sliding windows. Kept in this process and its data directory by default; several
 * processes that share their limits would ask a server such as Redis, hence the promises.
 */
export interface RateLimits {
  /** Counts a request where there is room for it. */
  consume(bucket: Bucket, now: number): LimitStatus | Promise<LimitStatus>;
  /** The same status without a request. */
  peek(bucket: Bucket, now: number): LimitStatus | Promise<LimitStatus>;
}

/** How an endpoint's requests are limited. */
export interface LimitRule {
  /** `site`: one window per site; `address`: one per site and client, of whom there may be any number. */
  scope: 'site' | 'address';
  /** Whether its requests count, or only show what is left. */
  counted: boolean;
  bucket(site: Site, clientAddress: () => string): Bucket;
}

/** Lengths of windows, milliseconds. */
export const minute = 60_000;
export const hour = 60 * minute;

/** Requests of one site within an hour. Endpoints that name the same bucket share it. */
export function hourly(name: 'B offers' | 'C offers' | 'C reports'): LimitRule {
  return {
    scope: 'site',
    counted: true,
    bucket: (site) => ({ name: `${name} ${site.site_key}`, limit: site.rate_limit_per_hour, length: hour }),
  };
}

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
export function failedIdentifications(clientAddress: string): Bucket {
  return { name: clientAddress, limit: 60, length: minute };
}

/** Whole seconds, and at least one, until the next request has room. */
export function retryAfterHeader({ freeAt }: LimitStatus, now: number): Record<string, string> {
  return { 'retry-after': String(Math.max(1, Math.ceil((freeAt - now) / 1000))) };
}

export function limitHeaders({ limit, remaining, resetAt }: LimitStatus): Record<string, string> {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(Math.ceil(resetAt / 1000)),
  };
}
