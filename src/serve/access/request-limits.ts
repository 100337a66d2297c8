import { join } from 'node:path';
import type { Logger } from 'pino';
import type { DataDirectory } from '../../config/data-directory.ts';
import type { Site } from '../../sites/sites.ts';
import { JournaledWindows } from './journaled-windows.ts';
import { RateLimitJournal } from './rate-limit-journal.ts';
import { failedIdentifications, hour, minute } from './rate-limits.ts';
import type { LimitRule, RateLimits, Reading } from './rate-limits.ts';
import { SlidingWindows } from './sliding-windows.ts';

/** Windows of clients, of whom there may be any number, are bounded; those of sites are as many as `sites.json` has. */
const mostClients = 100_000;
const mostFailingAddresses = 10_000;

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
      address: new JournaledWindows(clients, now, { most: mostClients }),
    };
    return new RequestLimits(byScope, new SlidingWindows({ most: mostFailingAddresses }), () => {
      sites.close();
      clients.close();
    });
  }

  /** The reading of a site's bucket after this request, which counts where the rule and the caller say so. */
  read(
    rule: LimitRule,
    site: Site,
    clientAddress: () => string,
    now: number,
    counts: boolean,
  ): Reading | Promise<Reading> {
    const limits = this.#byScope[rule.scope];
    const bucket = rule.bucket(site, clientAddress);
    return counts && rule.counted ? limits.take(bucket, now) : limits.look(bucket, now);
  }

  /** Counts a failed identification against the address that it came from, never against the site that it named. */
  failed(clientAddress: string, now: number): Reading | Promise<Reading> {
    return this.#failures.take(failedIdentifications(clientAddress), now);
  }

  close(): void {
    this.#close();
  }
}
