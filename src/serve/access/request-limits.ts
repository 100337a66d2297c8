import { join } from 'node:path';
import type { Logger } from 'pino';
import type { DataDirectory } from '../../config/data-directory.ts';
import type { Site } from '../../sites/sites.ts';
import { JournaledWindows, RateLimitJournal } from './rate-limit-journal.ts';
import { failedIdentifications, hour, minute } from './rate-limits.ts';
import type { LimitRule, RateLimits, LimitStatus } from './rate-limits.ts';
import { SlidingWindows } from './sliding-windows.ts';

/** Windows of clients, of whom there may be any number, are bounded; those of sites are as many as `sites.json` has. */
const maxClients = 100_000;
const maxFailingAddresses = 10_000;

/** The limits of everything that is asked for. */
export class RequestLimits {
  readonly #byScope: Record<LimitRule['scope'], RateLimits>;
  readonly #failures: RateLimits;
  readonly #close: () => void;

  constructor(byScope: Record<LimitRule['scope'], RateLimits>, failures: RateLimits, close: () => void) {
    this.#byScope = byScope;
    this.#failures = failures;
    this.#close = close;
  }

  /** Kept in this process and its data directory. What failed from which address is not written down: it is gone in a minute. */
  static embedded(data: DataDirectory, now: number, log: Logger): RequestLimits {
    const sites = new RateLimitJournal(join(data.rateLimits, 'sites'), hour, now, log);
    const clients = new RateLimitJournal(join(data.rateLimits, 'clients'), minute, now, log);
    const byScope = {
      site: new JournaledWindows(sites, now),
      address: new JournaledWindows(clients, now, { maxWindows: maxClients }),
    };
    return new RequestLimits(byScope, new SlidingWindows({ maxWindows: maxFailingAddresses }), () => {
      sites.close();
      clients.close();
    });
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
