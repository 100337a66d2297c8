import { hash, timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import { FollowedFile } from '../files/followed-file.ts';
import { previousSecret } from '../sites/rotate-secret.ts';
import { readSites } from '../sites/sites.ts';
import type { Site } from '../sites/sites.ts';
import { ApiError } from './errors.ts';
import type { Query } from './query.ts';

interface KnownSite {
  site: Site;
  secretDigest: Buffer;
  /** Of the secret before, where it may open something until its end. */
  previousDigest: Buffer;
}

/**
 * Secrets are compared by their SHA-256: the same work for all, however long they are. To have it as a text and copy
 * that takes half the time of having it as a buffer, which is one outside V8's heap.
 */
const digestOf = (secret: string) => Buffer.from(hash('sha256', secret, 'binary'), 'binary');
/** Digest that is compared where there is no site: no text is known to have it. */
const noDigest = Buffer.alloc(32);

/** Secrets, status and limits of the sites as `sites.json` says now; a broken file leaves the last good content. */
export class SiteRegistry {
  readonly #file: string;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #followed: FollowedFile;
  #sites: ReadonlyMap<string, KnownSite> = new Map();

  /** `now`: milliseconds since the epoch. */
  constructor(file: string, log: Logger, now: () => number) {
    this.#now = now;
    this.#file = file;
    this.#log = log;
    this.#followed = new FollowedFile(file, log, () => this.#read(), {
      gone: 'sites.json is gone; the sites known so far stay until it is back',
      broken: 'sites.json cannot be used; the sites known so far stay until it is mended',
    });
  }

  /**
   * Reads the file for the first time. Throws `UsageError` where it cannot be used: there is no last good content yet.
   */
  start(): Promise<void> {
    return this.#followed.start();
  }

  /** Reads the file again if it has changed. */
  poll(): Promise<void> {
    return this.#followed.poll();
  }

  /**
   * The site that key and secret of a query belong to. Throws `ApiError`, which is the same for an unknown key
   * and a wrong secret.
   */
  identify(query: Query): Site {
    const key = query['site_key'];
    const secret = query['site_secret'];
    if (key === undefined || secret === undefined) {
      throw new ApiError('missing_credentials', `${key === undefined ? 'site_key' : 'site_secret'} is missing`);
    }
    const known = typeof key === 'string' ? this.#sites.get(key) : undefined;
    // Compared where the key is unknown too, so that the time taken does not reveal which keys exist.
    const digest = digestOf(typeof secret === 'string' ? secret : '');
    const isSame = timingSafeEqual(digest, known?.secretDigest ?? noDigest);
    const isPrevious = timingSafeEqual(digest, known?.previousDigest ?? noDigest);
    const opens = isSame || (isPrevious && previousSecret((known as KnownSite).site, this.#now(), 'opens') === secret);
    if (!opens || known === undefined || typeof secret !== 'string') {
      throw new ApiError('unknown_credentials', 'no site has this site_key and site_secret');
    }
    return known.site;
  }

  /**
   * The site of Variant A that a query's key names. Sites of other variants are not opened by a key alone.
   * Throws `ApiError`.
   */
  identifyByKey(query: Query): Site {
    const key = query['site_key'];
    const known = typeof key === 'string' ? this.#sites.get(key) : undefined;
    if (known?.site.variant !== 'A') throw new ApiError('unknown_credentials', 'no site has this site_key');
    return known.site;
  }

  /** The site of a key, which opens nothing: for who only has to know whose link it is. */
  named(key: string): Site | undefined {
    return this.#sites.get(key)?.site;
  }

  #read(): void {
    const { sites, warnings } = readSites(this.#file);
    this.#sites = new Map(
      sites.map((site) => {
        const { site_secret, previous_site_secret, previous_secret_until } = site;
        const previousDigest =
          previous_site_secret === undefined || previous_secret_until === undefined
            ? noDigest
            : digestOf(previous_site_secret);
        return [site.site_key, { site, secretDigest: digestOf(site_secret), previousDigest }];
      }),
    );
    for (const warning of warnings) this.#log.warn(warning);
    this.#log.info({ sites: sites.length }, 'sites.json read');
  }
}
